//! A small knowledge base: several types, non-ASCII names, duplicate names, and unpublished documents.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const DOCUMENTS: [(&str, &str, &str); 14] = [
    ("tags/dao.md", "title: DAO\naliases: [daos]\ntags: [governance]", "An organisation of equals."),
    ("tags/größe.md", "title: Größe\ntags: [governance, größe]", "Wie groß etwas ist."),
    ("tags/合意.md", "title: 合意", "みんなで決める。"),
    ("links/example.md", "title: Example\nurl: https://example.org", "A page."),
    (
        "artifacts/patterns/cell-governance.md",
        "title: Cells\ngroup: dao\nrelease: first",
        "Cells govern themselves.",
    ),
    ("artifacts/patterns/deep/cell-governance.md", "title: Cells again", "The same name, deeper."),
    ("artifacts/practices/Ämter & Würden.md", "title: \"Ämter: \\\"Würden\\\"\"\ngroup: dao", "Über Ämter."),
    (
        "artifacts/articles/no-title.md",
        "description: Nothing but a heading",
        "# The heading\n\nAnd its text.",
    ),
    ("artifacts/questions/why.md", "title: Why?\nstatus: open", "Nobody knows."),
    ("data/people/ada.md", "title: Ada\nemail: ada@example.org", "She writes."),
    ("data/groups/dao.md", "title: The DAO", "Everyone."),
    ("notes/empty.md", "title: Empty", ""),
    ("notes/unpublished.md", "title: Unpublished\npublish: false", "Not to be seen."),
    ("drafts/draft.md", "title: Draft\ndraft: true", "Not to be seen yet."),
];

/// Writes the documents.
pub(super) fn write(folder: &Path) -> Result<()> {
    for (day, (path, fields, text)) in DOCUMENTS.iter().enumerate() {
        let file = folder.join(path);
        let publish = if fields.contains("publish:") { "" } else { "publish: true\n" };
        let text = format!("---\n{fields}\ndate: 2026-01-{:02}\n{publish}---\n{text}\n", day + 1);
        let written =
            fs::create_dir_all(file.parent().unwrap_or(folder)).and_then(|()| fs::write(&file, text));
        written.with_context(|| format!("could not write {}", file.display()))?;
    }
    Ok(())
}
