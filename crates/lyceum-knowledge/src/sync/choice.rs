//! Decides ids, and which documents are staged, replaced or postponed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lyceum_content::{
    knowledge::{self, IdRequest, IdRule},
    ontology::Ontology,
};
use lyceum_model::RelPath;
use lyceum_store::documents::{DocumentRow, FileRow, FileState};

use super::{Outcome, StoredState};
use crate::{read::RETRIES, service::is_uncommitted};

/// An id, and whether it is a plain slug, without a hash.
pub(super) struct Id {
    pub text: String,
    pub is_plain: bool,
}

/// A document to stage.
#[derive(Debug, Clone)]
pub(super) struct PendingDocument {
    pub path: RelPath,
    pub id: String,
    /// Hash of the file at the first read.
    pub digest: String,
}

/// Assigns ids to all documents, published or not, so that publishing one doesn't rename another.
///
/// Plain documents have ids by path; documents with a type of their own, by file name.
pub(super) fn assign(ontology: &Ontology, files: &BTreeMap<String, FileRow>) -> BTreeMap<String, Id> {
    let paths: Vec<(RelPath, &str)> = files
        .values()
        .filter(|row| !row.content_type.is_empty())
        .filter_map(|row| Some((RelPath::parse(&row.path).ok()?, row.content_type.as_str())))
        .collect();
    let ids = knowledge::assign(paths.iter().map(|(path, content_type)| {
        // A folder that is mapped to a type holds typed documents, also of the root type.
        let is_plain = *content_type == ontology.root() && ontology.folder_of(path).is_none();
        let rule = if is_plain { IdRule::Path } else { IdRule::FileName };
        IdRequest { path, content_type, rule }
    }));
    let id = |assigned: knowledge::AssignedId| Id { text: assigned.id, is_plain: assigned.is_plain };
    ids.into_iter().map(|(path, assigned)| (path.as_str().to_owned(), id(assigned))).collect()
}

/// Determines which documents to stage, and which to replace or remove.
pub(super) fn choose(
    files: &BTreeMap<String, FileRow>,
    known: &StoredState,
    ids: &BTreeMap<String, Id>,
    version: &str,
) -> (Vec<PendingDocument>, Vec<DocumentRow>) {
    let mut pending = Vec::new();
    for row in files.values().filter(|row| row.state == FileState::Published) {
        let Some(id) = ids.get(&row.path) else { continue };
        let is_same = known.documents.get(&row.path).is_some_and(|served| {
            let digest = known.files.get(&row.path).and_then(|before| before.digest.as_ref());
            (&served.content_type, &served.id) == (&row.content_type, &id.text)
                && digest.is_some()
                && digest == row.digest.as_ref()
                // Once files are committed, their documents name the commit.
                && (is_uncommitted(version) || !is_uncommitted(&served.version))
        });
        if let (false, Ok(path)) = (is_same, RelPath::parse(&row.path)) {
            pending.push(PendingDocument {
                path,
                id: id.text.clone(),
                digest: row.digest.clone().unwrap_or_default(),
            });
        }
    }
    let stays = |served: &DocumentRow| match files.get(&served.path) {
        // An unreadable file keeps its published document, if type and id are unchanged.
        Some(row) if row.state == FileState::Failed => keeps_identity(served, row, ids),
        Some(row) => row.state == FileState::Published,
        None => false,
    };
    let staged: BTreeSet<&str> = pending.iter().map(|one| one.path.as_str()).collect();
    let replaced = known.documents.values();
    let replaced = replaced.filter(|served| !stays(served) || staged.contains(served.path.as_str())).cloned();
    let replaced = replaced.collect();
    (pending, replaced)
}

/// Postpones files that changed during the sync or could not be read a second time. Their published documents stay.
pub(super) fn postpone(
    outcome: &mut Outcome,
    files: &mut BTreeMap<String, FileRow>,
    ids: &BTreeMap<String, Id>,
    pending: &[PendingDocument],
    now: Timestamp,
) {
    let staged: BTreeSet<&str> =
        outcome.staging.documents.iter().map(|staged| staged.row.path.as_str()).collect();
    for one in pending.iter().filter(|one| !staged.contains(one.path.as_str())) {
        let Some(row) = files.get_mut(one.path.as_str()) else { continue };
        row.state = FileState::Failed;
        row.reason = Some("it changed while being read".to_owned());
        row.stamp = None;
        row.digest = None;
        row.attempts = 1;
        row.due = RETRIES.next(row.attempts, now);
        outcome.replaced.retain(|served| served.path != row.path || !keeps_identity(served, row, ids));
        outcome.files.retain(|one| one.path != row.path);
        outcome.files.push(row.clone());
    }
}

/// Whether a document keeps its type and id.
fn keeps_identity(served: &DocumentRow, row: &FileRow, ids: &BTreeMap<String, Id>) -> bool {
    served.content_type == row.content_type && ids.get(&row.path).is_some_and(|id| id.text == served.id)
}
