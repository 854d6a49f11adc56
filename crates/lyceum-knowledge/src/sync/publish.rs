//! Publishes a sync in one transaction.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lyceum_content::document::Publishing;
use lyceum_model::RelPath;
use lyceum_store::{
    DbError, Key, Tx,
    documents::{self, DocumentRow, FileRow, SourceRow},
    events::{self, EventKind},
    jobs,
};

use super::Outcome;
use crate::{Counts, Knowledge, document::hash, publishing};

impl Knowledge {
    /// Publishes the new commit.
    pub(super) async fn publish(
        &self,
        outcome: Outcome,
        files: &BTreeMap<String, FileRow>,
        version: &str,
        publishing: Publishing,
        wanted: i64,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let (source, queue) = (self.options.key(), self.options.queue());
        let counts = Counts::of(&files.values().map(|row| (row.state, 1)).collect::<Vec<_>>());
        let row = SourceRow {
            version: Some(version.to_owned()),
            synced_at: Some(now),
            rules: self.options.rules.clone(),
            wanted,
            done: wanted,
        };
        let write = move |tx: &Tx<'_>| {
            outcome.lease.renew(tx)?;
            publishing::store(tx, &source, publishing, now)?;
            publish_in(tx, &source, &queue, &outcome, &row, counts, now)
        };
        self.db.write(self.options.about(), write).await
    }
}

/// Writes everything in one transaction.
fn publish_in(
    tx: &Tx<'_>,
    source: &str,
    queue: &str,
    outcome: &Outcome,
    row: &SourceRow,
    counts: Counts,
    now: Timestamp,
) -> Result<(), DbError> {
    documents::remove_files(tx, source, outcome.gone.iter().map(String::as_str))?;
    documents::put_files(tx, source, &outcome.files)?;
    documents::remove_documents(tx, source, outcome.replaced.iter().map(|row| row.path.as_str()))?;
    documents::put_documents(tx, source, outcome.staging.documents.iter().map(|staged| &staged.row))?;
    // Deletes first: a key that is removed and written again ends up written.
    let mut objects: BTreeMap<String, &str> = outcome.orphans.iter().map(|key| (key.clone(), "")).collect();
    for replaced in &outcome.replaced {
        for key in keys(replaced)? {
            objects.insert(key, "");
        }
    }
    for staged in &outcome.staging.documents {
        let hashes = [staged.row.hash.as_str(), staged.raw_hash.as_str()];
        objects.extend(keys(&staged.row)?.into_iter().zip(hashes));
    }
    let due = tx.now()?;
    jobs::enqueue(tx, queue, objects.iter().map(|(key, hash)| (key.as_str(), *hash)), due)?;
    let new_events: Vec<(EventKind, &str)> = (objects.iter())
        .filter(|(key, _)| key.starts_with("content/"))
        .map(|(key, hash)| {
            (if hash.is_empty() { EventKind::Removed } else { EventKind::Stored }, key.as_str())
        })
        .collect();
    events::append(tx, source, new_events.into_iter(), now)?;
    documents::put_source(tx, source, row)?;
    let manifest = manifest(tx, source, row, counts)?;
    let manifest_hash = hash(&manifest);
    documents::put_bodies(tx, source, outcome.staging.sync, [(manifest_hash.as_str(), manifest.as_slice())])?;
    documents::end_sync(tx, source, outcome.staging.sync)?;
    jobs::enqueue(tx, queue, [(Key::manifest().as_str(), manifest_hash.as_str())], due)
}

/// Object keys of a document and of its raw file.
fn keys(row: &DocumentRow) -> Result<[String; 2], DbError> {
    let invalid = |error: &dyn std::fmt::Display| DbError::Content(format!("{}: {error}", row.path));
    let content = Key::content(&row.content_type, &row.id).map_err(|error| invalid(&error))?;
    let path = RelPath::parse(&row.path).map_err(|error| invalid(&error))?;
    let raw = Key::raw(&path).map_err(|error| invalid(&error))?;
    Ok([content.as_str().to_owned(), raw.as_str().to_owned()])
}

/// Builds `metadata/manifest.json`: lists the published documents, so that a copy of the objects can be verified.
fn manifest(tx: &Tx<'_>, source: &str, row: &SourceRow, counts: Counts) -> Result<Vec<u8>, DbError> {
    let served = documents::documents(tx, source)?;
    let served: Vec<_> = served
        .iter()
        .map(|one| serde_json::json!({ "contentType": one.content_type, "id": one.id, "path": one.path, "sha256": one.hash }))
        .collect();
    let manifest = serde_json::json!({
        "source": source,
        "commitSha": row.version,
        "syncedAt": row.synced_at,
        "files": counts,
        "documents": served,
    });
    Ok(manifest.to_string().into_bytes())
}
