//! What follows from what was read: ids, and which documents are staged, replaced, or left for later. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lyceum_content::knowledge;
use lyceum_model::RelPath;
use lyceum_store::documents::{DocumentRow, FileRow, FileState};

use super::{Outcome, StoredState};
use crate::read::RETRIES;

/// An id, and whether it is the plain name of the file.
pub(super) struct Id {
    pub text: String,
    pub is_plain: bool,
}

/// A document that is to be staged.
#[derive(Debug, Clone)]
pub(super) struct PendingDocument {
    pub path: RelPath,
    pub id: String,
    /// The hash of the file as it was read first.
    pub digest: String,
}

/// The ids of all documents, served or not, so that publishing one does not rename another.
pub(super) fn assign(files: &BTreeMap<String, FileRow>) -> BTreeMap<String, Id> {
    let paths: Vec<(RelPath, &str)> = files
        .values()
        .filter(|row| !row.content_type.is_empty())
        .filter_map(|row| Some((RelPath::parse(&row.path).ok()?, row.content_type.as_str())))
        .collect();
    let ids = knowledge::assign(paths.iter().map(|(path, content_type)| (path, *content_type)));
    let id = |assigned: knowledge::AssignedId| Id { text: assigned.id, is_plain: assigned.is_plain };
    ids.into_iter().map(|(path, assigned)| (path.as_str().to_owned(), id(assigned))).collect()
}

/// Finds which documents have to be staged, and which are replaced or served no more.
pub(super) fn choose(
    files: &BTreeMap<String, FileRow>,
    known: &StoredState,
    ids: &BTreeMap<String, Id>,
) -> (Vec<PendingDocument>, Vec<DocumentRow>) {
    let mut ahead = Vec::new();
    for row in files.values().filter(|row| row.state == FileState::Published) {
        let Some(id) = ids.get(&row.path) else { continue };
        let is_same = known.documents.get(&row.path).is_some_and(|served| {
            let digest = known.files.get(&row.path).and_then(|before| before.digest.as_ref());
            (&served.content_type, &served.id) == (&row.content_type, &id.text)
                && digest.is_some()
                && digest == row.digest.as_ref()
        });
        if let (false, Ok(path)) = (is_same, RelPath::parse(&row.path)) {
            ahead.push(PendingDocument {
                path,
                id: id.text.clone(),
                digest: row.digest.clone().unwrap_or_default(),
            });
        }
    }
    let stays = |served: &DocumentRow| match files.get(&served.path) {
        // What can't be read now is served as it was, under the id that is still its own.
        Some(row) if row.state == FileState::Failed => keeps_its_place(served, row, ids),
        Some(row) => row.state == FileState::Published,
        None => false,
    };
    let staged: BTreeSet<&str> = ahead.iter().map(|one| one.path.as_str()).collect();
    let replaced = known.documents.values();
    let replaced = replaced.filter(|served| !stays(served) || staged.contains(served.path.as_str())).cloned();
    let replaced = replaced.collect();
    (ahead, replaced)
}

/// Leaves files for later that were to be staged and changed under our hands, or could not be read a second time. What
/// is served of them is served on.
pub(super) fn postpone(
    outcome: &mut Outcome,
    files: &mut BTreeMap<String, FileRow>,
    ids: &BTreeMap<String, Id>,
    ahead: &[PendingDocument],
    now: Timestamp,
) {
    let staged: BTreeSet<&str> = outcome.staged.iter().map(|staged| staged.row.path.as_str()).collect();
    for one in ahead.iter().filter(|one| !staged.contains(one.path.as_str())) {
        let Some(row) = files.get_mut(one.path.as_str()) else { continue };
        row.state = FileState::Failed;
        row.reason = Some("it changed while it was read".to_owned());
        row.stamp = None;
        row.digest = None;
        row.attempts = 1;
        row.due = RETRIES.next(row.attempts, now);
        outcome.replaced.retain(|served| served.path != row.path || !keeps_its_place(served, row, ids));
        outcome.files.retain(|one| one.path != row.path);
        outcome.files.push(row.clone());
    }
}

/// Whether a document would be served under the same type and id as before.
fn keeps_its_place(served: &DocumentRow, row: &FileRow, ids: &BTreeMap<String, Id>) -> bool {
    served.content_type == row.content_type && ids.get(&row.path).is_some_and(|id| id.text == served.id)
}
