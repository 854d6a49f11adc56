//! Files excluded from a folder source.

use std::os::unix::fs::symlink;

use super::{
    MAX_BYTES,
    folders::{folder, snapshot, write},
    left_out, names, path,
};
use crate::ReadError;

#[test]
fn s14_what_nobody_would_commit_is_left_out_with_the_reason() {
    let folder = folder(&[
        "s/SKILL.md",
        "s/.env",
        "s/.env.example",
        "s/.aws/credentials",
        "s/SKILL.md~",
        "s/keys/server.pem",
        "s/keys/public.pem",
        "s/dist/bundle.js",
        "s/.DS_Store",
        ".claude/skills/pdf/SKILL.md",
        ".claude/settings.local.json",
        ".claude-plugin/marketplace.json",
    ]);
    write(folder.path(), ".gitignore", "*.pem\n");
    write(folder.path(), "s/.gitignore", "!public.pem\ndist/\n");
    let snapshot = snapshot(&folder);
    let taken = [
        ".claude-plugin/marketplace.json",
        ".claude/skills/pdf/SKILL.md",
        "s/.env.example",
        "s/SKILL.md",
        "s/keys/public.pem",
    ];
    assert_eq!(names(&snapshot), taken);
    let shown: Vec<_> = snapshot.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            ".claude/settings.local.json: it is directly in a hidden folder, of which only subfolders are served",
            "s/.aws: it is hidden: its name begins with a dot",
            "s/.env: it is hidden: its name begins with a dot",
            "s/SKILL.md~: it is an editor backup file",
            "s/dist: it is ignored: dist/ in s/.gitignore",
            "s/keys/server.pem: it is ignored: *.pem in .gitignore",
        ]
    );
    assert!(matches!(snapshot.read(&path("s/.env"), MAX_BYTES), Err(ReadError::Missing)));
}

#[test]
fn a_link_does_not_show_what_is_left_out_where_it_is() {
    let folder =
        folder(&["s/SKILL.md", ".env", ".venv/lib/x.py", "keys/a.pem", ".claude/skills/pdf/SKILL.md"]);
    write(folder.path(), ".gitignore", "/keys/\n/s/local\n");
    for (link, target) in [
        ("s/env.txt", "../.env"),
        ("s/lib", "../.venv/lib"),
        ("s/a.txt", "../keys/a.pem"),
        ("s/local", "SKILL.md"),
        ("skills", ".claude/skills"),
    ] {
        symlink(target, folder.path().join(link)).unwrap();
    }
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), [".claude/skills/pdf/SKILL.md", "s/SKILL.md", "skills/pdf/SKILL.md"]);
    let out = left_out(&snapshot);
    assert_eq!(out.len(), 7, "{out:?}");
}

#[test]
fn knowledge_9_each_file_below_a_path_that_is_too_long_is_left_out_by_itself() {
    let deep = ["d".repeat(200), "e".repeat(200), "f".repeat(200)].join("/");
    let folder = folder(&["a.md"]);
    let place = [deep.as_str(), deep.as_str(), "x.md"].join("/");
    write(folder.path(), &place, "x");
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), ["a.md"]);
    let paths: Vec<&str> = snapshot.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, [place]);
}

#[test]
fn s14_a_folder_whose_gitignore_can_not_be_read_is_left_out() {
    let folder = folder(&["a/secret.pem", "a/deep/b.md", "c.md"]);
    let too_large = format!("*.pem\n{}", "# filler\n".repeat(40_000));
    write(folder.path(), "a/.gitignore", &too_large);
    symlink("../a/secret.pem", folder.path().join("linked.pem")).unwrap();
    symlink("a/secret.pem", folder.path().join("inside.pem")).unwrap();
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), ["c.md"]);
    let shown: Vec<_> = snapshot.problems().iter().map(ToString::to_string).collect();
    assert!(
        shown.iter().any(|line| line.starts_with("a/.gitignore: ") && line.contains("larger than 256 KiB")),
        "{shown:?}"
    );
}
