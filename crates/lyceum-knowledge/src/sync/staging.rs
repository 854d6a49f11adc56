//! Second pass: stages documents with their ids. Their bytes stay in the database until they are uploaded.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use lyceum_content::{
    document::{self as content, Publishing},
    knowledge,
};
use lyceum_source::Snapshot;
use lyceum_store::{
    Tx,
    documents::{self, DocumentRow},
};

use super::{
    OnProgress, Progress, SyncError,
    choice::PendingDocument,
    reading::{batches, batches_in_flight, run_blocking},
};
use crate::{
    Knowledge,
    document::{Document, hash},
    failpoint::{self, Step},
    read::Reader,
};

/// A staged document; its bytes are in the database.
pub(super) struct StagedDocument {
    pub row: DocumentRow,
    pub raw_hash: String,
}

/// What a sync has staged.
#[derive(Default)]
pub(super) struct Staging {
    /// Number of the sync; 0 if nothing was staged.
    pub sync: i64,
    pub documents: Vec<StagedDocument>,
}

impl Knowledge {
    /// Reads documents again and stages them with their ids.
    pub(super) async fn stage_all(
        &self,
        snapshot: &Snapshot,
        pending: &[PendingDocument],
        version: &str,
        publishing: Publishing,
        now: Timestamp,
        on_progress: &OnProgress,
    ) -> Result<Staging, SyncError> {
        let (of, about) = (pending.len(), self.options.about());
        if of == 0 {
            return Ok(Staging::default());
        }
        let (source, queue) = (self.options.key(), self.options.queue());
        let begin = move |tx: &Tx<'_>| {
            let sync = documents::begin_sync(tx, &source)?;
            // Delete leftovers of an interrupted sync.
            documents::sweep_bodies(tx, &source, &queue)?;
            Ok(sync)
        };
        let sync = self.db.write(&about, begin).await?;
        let size = |one: &PendingDocument| snapshot.files().get(&one.path).map_or(0, |file| file.size);
        let batches: Vec<Vec<PendingDocument>> = batches(pending, size).map(<[_]>::to_vec).collect();
        let staging: Vec<_> = batches
            .into_iter()
            .map(|batch| {
                let count = batch.len();
                let (snapshot, ontology) = (snapshot.clone(), self.options.ontology.clone());
                let (source, links) = (self.options.name.to_string(), self.options.links.clone());
                let version = version.to_owned();
                let built = run_blocking(move || {
                    let reader =
                        Reader { snapshot: &snapshot, ontology: &ontology, publishing, exclude: &[], now };
                    let build = |PendingDocument { path, id, digest }: PendingDocument| {
                        let text = reader.text(&path).ok().filter(|text| hash(text.as_bytes()) == digest)?;
                        let parsed = content::read(&ontology, publishing, &path, &text).ok()?;
                        let document = Document {
                            id,
                            content_type: parsed.content_type,
                            path: path.as_str().to_owned(),
                            content: parsed.body.to_owned(),
                            synced_at: now,
                            commit_sha: version.clone(),
                            source: source.clone(),
                            url: links.to(&version, &path),
                            metadata: parsed.fields,
                        };
                        let head = text.len().saturating_sub(parsed.body.len());
                        let first_line = 1 + text.get(..head).unwrap_or_default().matches('\n').count();
                        Some(BuiltDocument::of(&document, first_line, text))
                    };
                    batch.into_iter().filter_map(build).collect::<Vec<_>>()
                });
                // Writes wait for each other inside the stream, so that several of them become one commit.
                let (db, about, source) = (self.db.clone(), about.clone(), self.options.key());
                async move {
                    let built = Arc::new(built.await?);
                    let bodies = built.clone();
                    let write = move |tx: &Tx<'_>| {
                        documents::put_bodies(
                            tx,
                            &source,
                            sync,
                            bodies.iter().flat_map(BuiltDocument::bodies),
                        )
                    };
                    db.write(about, write).await?;
                    Ok::<_, SyncError>((count, built.iter().map(BuiltDocument::staged).collect::<Vec<_>>()))
                }
            })
            .collect();
        let mut staged = Vec::with_capacity(of);
        let mut batches = stream::iter(staging).buffered(batches_in_flight());
        let mut done = 0;
        while let Some((count, batch)) = batches.try_next().await? {
            done += count;
            staged.extend(batch);
            on_progress(Progress::Staging { done, of });
            failpoint::reached(Step::Staged);
        }
        Ok(Staging { sync, documents: staged })
    }
}

/// A document with its database row and raw file, before staging.
struct BuiltDocument {
    row: DocumentRow,
    bytes: Vec<u8>,
    raw: String,
    raw_hash: String,
}

impl BuiltDocument {
    fn of(document: &Document, first_line: usize, raw: String) -> Self {
        let bytes = document.to_bytes();
        let plain = document.plain_text();
        let row = DocumentRow {
            path: document.path.clone(),
            content_type: document.content_type.clone(),
            id: document.id.clone(),
            hash: hash(&bytes),
            version: document.commit_sha.clone(),
            synced_at: document.synced_at,
            title: knowledge::title(&document.metadata, &plain, &document.path),
            metadata: serde_json::Value::Object(document.metadata.clone()).to_string(),
            excerpt: knowledge::excerpt(&plain),
            first_line: i64::try_from(first_line).unwrap_or(i64::MAX),
        };
        Self { row, bytes, raw_hash: hash(raw.as_bytes()), raw }
    }

    /// What remains of it once its bytes are stored.
    fn staged(&self) -> StagedDocument {
        StagedDocument { row: self.row.clone(), raw_hash: self.raw_hash.clone() }
    }

    /// The bytes to store, by hash.
    fn bodies(&self) -> [(&str, &[u8]); 2] {
        [(&self.row.hash, &self.bytes), (&self.raw_hash, self.raw.as_bytes())]
    }
}
