//! What a knowledge base serves and leaves out.

use std::collections::BTreeMap;

use lyceum_content::{document::Publishing, frontmatter::FrontmatterFault};
use lyceum_knowledge::{Knowledge, State};
use lyceum_store::documents::{FileRow, FileState};

use crate::{
    finding::counted,
    inventory::{Inventory, Omissions, most_frequent},
};

/// Maximum number of types, and of extensions, to name.
const MAX_NAMED: usize = 5;

/// The inventory after the first sync. `table` is the table of the service in `lyceum.toml`, such as `[knowledge]`.
pub(super) async fn inventory(table: &str, knowledge: &Knowledge) -> Inventory {
    knowledge.until_synced().await;
    let files = knowledge.files().await.unwrap_or_default();
    let mut left_out = left_out(table, knowledge, &files);
    left_out.extend(knowledge.other_files().await.and_then(|others| not_read(&others)));
    Inventory { source: knowledge.source_name().clone(), served: served(knowledge), left_out }
}

fn served(knowledge: &Knowledge) -> String {
    let State { snapshot, error } = knowledge.current_state();
    let entries = snapshot.catalog.entries();
    let mut types = BTreeMap::<&str, usize>::new();
    for entry in entries {
        *types.entry(&entry.summary.content_type).or_default() += 1;
    }
    let documents = counted(entries.len(), "document", "documents");
    let failure = error.map(|error| format!("sync failed: {error}"));
    let note = failure.or_else(|| snapshot.nothing_published()).map(|note| format!("; {note}"));
    let note = note.unwrap_or_default();
    match types.len() {
        0 | 1 => format!("{documents}{note}"),
        _ => format!("{documents} ({}){note}", most_frequent(types, MAX_NAMED)),
    }
}

fn left_out(table: &str, knowledge: &Knowledge, files: &[FileRow]) -> Vec<String> {
    let rule = knowledge.snapshot().publishing;
    let without_publish =
        format!("no `publish: true`; to serve them all the same, set publish = \"all\" in {table}");
    let no_frontmatter = FrontmatterFault::Missing.to_string();
    let mut omissions = Omissions::default();
    for file in files {
        let reason = file.reason.as_deref().unwrap_or_default();
        let reason = match (file.state, rule) {
            (FileState::Published, _) => continue,
            (FileState::Draft, _) => "`draft: true`; to serve them, remove it",
            (FileState::Unpublished, Some(Publishing::All)) => "`publish: false`; to serve them, remove it",
            (FileState::Unpublished, _) => &without_publish,
            // They can't say `publish: true`.
            (FileState::Skipped, Some(Publishing::Frontmatter)) if reason == no_frontmatter => {
                &without_publish
            }
            (FileState::Skipped, _) if knowledge.excludes(&file.path) => {
                "in folders that are served as skills or excluded (knowledge.exclude)"
            }
            (FileState::Skipped | FileState::Failed, _) => reason,
        };
        omissions.add(&file.path, reason);
    }
    omissions.lines()
}

/// The files that are not markdown.
fn not_read(others: &BTreeMap<String, usize>) -> Option<String> {
    let total: usize = others.values().sum();
    if total == 0 {
        return None;
    }
    let name = |(extension, count): (&String, &usize)| match extension.as_str() {
        "" => ("without extension".to_owned(), *count),
        extension => (extension.to_owned(), *count),
    };
    let kinds = most_frequent(others.iter().map(name), MAX_NAMED);
    Some(format!("{}: not markdown, so not read: {kinds}", counted(total, "file", "files")))
}
