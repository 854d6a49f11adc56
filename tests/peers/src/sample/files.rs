//! The files of the sample: skills in both formats, with the oddities of real repositories.

/// Number of plain skills: enough for two pages of `skills/list`.
const MANY: usize = 120;

/// Folders with an invalid `SKILL.md`: reported, and not served as Agent Skills.
pub(crate) const INVALID: [&str; 2] = ["Shouting_Name", "torn"];

/// A skill with all kinds of files.
pub(crate) const RICH: &str = "pdf";

/// A file of [`RICH`] whose name must be percent-encoded in its URI, and that URI.
const ODD_FILE: &str = "pdf/references/déjà vu 100%.md";
pub(crate) const ODD_ADDRESS: &str = "skill://pdf/references/d%C3%A9j%C3%A0%20vu%20100%25.md";

/// A path from the root of the repository, and the contents of the file.
pub(super) type File = (String, Vec<u8>);

/// Every file of the repository.
pub(super) fn all() -> Vec<File> {
    let below = |(path, text): (&str, &str)| (format!("skills/{path}"), text.as_bytes().to_vec());
    let mut files: Vec<File> = DOCUMENTS.iter().chain(FOLDERS).copied().map(below).collect();
    files.extend((1..=MANY).map(plain));
    files.push((format!("skills/{RICH}/assets/stamp.png"), every_byte()));
    files.push((
        format!("skills/{ODD_FILE}"),
        "# Seen before\n\nA form that came twice is read once.\n".into(),
    ));
    files.push((format!("skills/{}/SKILL.md", "line-ends"), LINE_ENDS.replace('\n', "\r\n").into_bytes()));
    files.push(("README.md".to_owned(), b"# Skills of the sample team\n".to_vec()));
    files.push(("config.yaml".to_owned(), b"matching:\n  max_results: 5\n".to_vec()));
    files
}

/// The URIs of all valid Agent Skills, sorted.
pub(crate) fn addresses() -> Vec<String> {
    let files = all();
    let folders =
        files.iter().filter_map(|(path, _)| path.strip_prefix("skills/")?.strip_suffix("/SKILL.md"));
    let mut addresses: Vec<_> = folders
        .filter(|folder| !INVALID.contains(folder))
        .map(|folder| format!("skill://{folder}/SKILL.md"))
        .collect();
    addresses.sort();
    addresses
}

/// One of the plain skills, such as `recipes/recipe-007/SKILL.md`.
fn plain(number: usize) -> File {
    let name = format!("recipe-{number:03}");
    let text = format!(
        "---\nname: {name}\ndescription: Cooks dish number {number}.\n---\n# Dish {number}\n\nHeat it for {number} minutes.\n"
    );
    (format!("skills/recipes/{name}/SKILL.md"), text.into_bytes())
}

/// Bytes that are not valid text in any encoding.
fn every_byte() -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n".iter().copied().chain(0..=u8::MAX).collect()
}

/// Documents with keywords, which inherit from their folders.
const DOCUMENTS: &[(&str, &str)] = &[
    (
        "_root.md",
        "---\nkeywords: [team, conventions]\ndescription: What holds everywhere\n---\n# Everywhere\n\nName things after what they are.\n",
    ),
    (
        "ui/_index.md",
        "---\nkeywords: [interface, screen]\ndescription: What holds for every screen\n---\n# Screens\n\nA screen has one purpose.\n",
    ),
    (
        "ui/react/_index.md",
        "---\nkeywords: [react, component]\ndescription: What holds for React\nassets:\n  - file: assets/component.tsx.template\n    description: An empty component\n    type: template\n---\n# React\n\nA component is a function.\n",
    ),
    ("ui/react/_index/assets/component.tsx.template", "export function Component() {\n  return null;\n}\n"),
    (
        "ui/react/auth.md",
        "---\nkeywords: [login, sign-in, session]\ndescription: How people sign in\npriority: 10\nassets:\n  - file: assets/door.svg\n    description: The way through the door\n    type: image\nscripts:\n  - file: scripts/check-session.sh\n    description: Says whether a session would hold\n    execution: server\n    args:\n      - name: length\n        description: How many minutes it lasts\n---\n# Signing in\n\nA session ends when the window does.\n",
    ),
    (
        "ui/react/auth/assets/door.svg",
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"4\"/>\n",
    ),
    ("ui/react/auth/scripts/check-session.sh", "echo \"a session of $SKILL_ARG_LENGTH minutes\"\n"),
    ("ui/react/auth/notes.md", "# Notes\n\nThis file belongs to the skill and is none itself.\n"),
];

/// Agent Skills folders.
const FOLDERS: &[(&str, &str)] = &[
    // The first by path: the conformance suite expects a folder in it.
    (
        "accounting/SKILL.md",
        "---\nname: accounting\ndescription: \"Books, invoices: and what is owed\"\nlicense: Apache-2.0\nmetadata:\n  author: sample-team\n  version: \"1.10\"\n---\n# Books\n\nStart from templates/invoice.md.\n",
    ),
    ("accounting/templates/invoice.md", "# Invoice\n\n| what | how much |\n|---|---|\n"),
    ("accounting/templates/regional/quebec.md", "# Facture\n\nTaxe à part.\n"),
    // All kinds of frontmatter values, including those that parsers disagree about.
    (
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: >-\n  Reads forms, fills them in,\n  and stamps them.\nlicense: Proprietary. LICENSE.txt has complete terms\ncompatibility: Needs python3\nallowed-tools: Bash(python3:*) Read\nmetadata:\n  author: sample-team\n  since: \"2026-01-31\"\nreviewed: 2026-01-31\nstable: yes\nretired: False\nversion: 1.0\nrevision: 017\nmask: 0x1f\nsuccessor: ~\nnicknames: [forms, \"stamps\", 3]\nlimits: {pages: 200, \"per day\": 1e3}\n---\n# Forms\n\nRun `scripts/fields.py` first; references/ explains the rest.\n",
    ),
    ("pdf/LICENSE.txt", "For the sample only.\n"),
    ("pdf/scripts/fields.py", "import sys\n\nprint(len(sys.argv), 'fields')\n"),
    ("pdf/references/forms.md", "# Forms\n\nA field has a name and a place.\n"),
    ("pdf/references/empty.txt", ""),
    // A folder that only groups, a skill in it, and a nested skill.
    (
        "office/sheets/SKILL.md",
        "---\nname: sheets\ndescription: Adds up columns\n---\n# Sheets\n\nSum downwards.\n",
    ),
    ("office/sheets/formulas.csv", "name,formula\nsum,=SUM(A:A)\n"),
    (
        "office/sheets/pivot/SKILL.md",
        "---\nname: pivot\ndescription: Turns a sheet around\n---\n# Pivot\n\nRows become columns.\n",
    ),
    ("office/sheets/pivot/example.json", "{\"rows\": [1, 2, 3]}\n"),
    // Invalid skills.
    (
        "Shouting_Name/SKILL.md",
        "---\nname: Shouting_Name\ndescription: Has a name that is not allowed\n---\n# Loud\n",
    ),
    ("torn/SKILL.md", "---\nname: torn\ndescription: [never closed\n---\n# Torn\n"),
];

/// A file with CRLF line endings.
const LINE_ENDS: &str = "---\nname: line-ends\ndescription: Was written elsewhere\nlist:\n  - one\n  - two\n---\n# Elsewhere\n\nEvery line ends twice.\n";

#[cfg(test)]
mod tests;
