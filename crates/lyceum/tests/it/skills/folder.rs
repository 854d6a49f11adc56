//! Temporary folders of skills, including the one that most tests use.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A folder of skills inside another folder, so that there is room beside it.
pub(super) struct Folder {
    root: TempDir,
}

impl Folder {
    /// An empty folder.
    pub(super) fn empty() -> Self {
        Self::of(&[])
    }

    /// A folder with those files.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir(folder.path()).unwrap();
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    /// The skills of the specification's examples: a root, nested categories, a skill with assets and scripts, a
    /// similar one, and one that inherits nothing.
    pub(super) fn example() -> Self {
        Self::of(&EXAMPLE)
    }

    /// The folder of the skills.
    pub(super) fn path(&self) -> PathBuf {
        self.root.path().join("skills")
    }

    /// A path beside the folder of the skills.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The path of a file in the folder.
    pub(super) fn file(&self, file: &str) -> PathBuf {
        self.path().join(file)
    }

    /// Writes a file atomically, like editors: under another name first.
    pub(super) fn write(&self, file: &str, bytes: impl AsRef<[u8]>) {
        let (place, unfinished) = (self.file(file), self.beside("unfinished"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&unfinished, bytes).unwrap();
        fs::rename(unfinished, place).unwrap();
    }

    /// Removes a file or a folder.
    pub(super) fn remove(&self, name: &str) {
        let place = self.file(name);
        if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) }.unwrap();
    }

    /// Renames a file or folder.
    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.file(from), self.file(to)).unwrap();
    }

    /// Replaces a file or folder by a symbolic link.
    #[cfg(unix)]
    pub(super) fn link(&self, file: &str, target: impl AsRef<Path>) {
        let (place, unfinished) = (self.file(file), self.beside("unfinished"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &unfinished).unwrap();
        fs::rename(unfinished, place).unwrap();
    }
}

/// A skill with one keyword and one sentence.
pub(super) fn skill(keyword: &str, says: &str) -> String {
    format!("---\nkeywords: [{keyword}]\ndescription: About {keyword}\n---\n\n{says}\n")
}

/// An Agent Skill.
pub(super) fn standard(name: &str, says: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\n{says}\n")
}

pub(super) const EXAMPLE: [(&str, &str); 17] = [
    (
        "_root.md",
        "---\nkeywords: [global]\ndescription: Global rules\nassets:\n  - file: global.css\n    description: Colours\n    \
         type: stylesheet\n  - file: assets/component-base.tsx.template\n    description: The oldest base\n---\n\nWrite tests.\n",
    ),
    ("_root/global.css", "body { margin: 0 }\n"),
    ("_root/assets/component-base.tsx.template", "// of the root\n"),
    ("ui/_index.md", "---\nkeywords: [ui, screens]\ndescription: User interface\n---\n\nKeep it simple.\n"),
    (
        "ui/react/_index.md",
        "---\nkeywords: [react, hooks, jsx, frontend]\ndescription: React\nassets:\n  - file: assets/component-base.tsx.template\n    \
         description: Base of a component\n    type: template\nscripts:\n  - file: scripts/lint.sh\n    description: Lints\n    \
         execution: server\n    args:\n      - name: folder\n        description: What to lint\n---\n\nUse function components.\n",
    ),
    ("ui/react/_index/assets/component-base.tsx.template", "export const Base = () => null;\n"),
    ("ui/react/_index/scripts/lint.sh", "echo lint\n"),
    (
        "ui/react/auth.md",
        "---\nkeywords: [react, auth, component, login]\ndescription: React authentication components and patterns\npriority: 5\n\
         assets:\n  - file: assets/AuthProvider.tsx.template\n    description: Provider\n    type: template\n  \
         - file: assets/auth-flow.svg\n    description: The flow\n    type: image\n  - file: assets/notes.txt\n\
         scripts:\n  - file: scripts/scaffold-auth.sh\n    description: Makes the files\n    args:\n      - name: name\n        \
         description: Of the component\n      - name: dry-run\n        required: false\n---\n\nUse the provider.\n",
    ),
    ("ui/react/auth/assets/AuthProvider.tsx.template", "import React from \"react\";\n"),
    ("ui/react/auth/assets/auth-flow.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"),
    ("ui/react/auth/assets/not-declared.txt", "nobody may see this\n"),
    ("ui/react/auth/scripts/scaffold-auth.sh", "echo \"$SKILL_ARG_NAME\"\n"),
    (
        "api/auth.md",
        "---\nkeywords: [api, auth, jwt, middleware]\ndescription: API authentication with JWT middleware\n---\n\nCheck the token.\n",
    ),
    (
        "no-inherit.md",
        "---\nkeywords: [alone]\ndescription: Stands alone\ninherit: false\n---\n\nNothing else counts.\n",
    ),
    ("notes/README.txt", "not a skill\n"),
    ("broken.md", "---\nkeywords: []\ndescription: Has no keywords\n---\n\nNever served.\n"),
    ("ui/react/auth/README.md", "# Not a skill\n\nIt is in the folder of one.\n"),
];
