//! The bytes of a document: from the cache, the object store or the staging area, verified against the entry's hash.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use lyceum_content::knowledge::Entry;
use lyceum_model::ErrorCode;
use lyceum_store::{Key, documents};
use lyceum_tools::Error;

use crate::{
    Knowledge,
    document::{Document, hash},
    service::db_error,
};

/// Minimum interval between repairs of corrupt documents.
const REPAIR_INTERVAL: Duration = Duration::from_secs(5);

/// A stored document.
#[derive(Debug, Clone)]
pub struct DocumentBytes {
    /// The hash of the bytes.
    pub hash: String,
    /// JSON.
    pub bytes: Arc<[u8]>,
}

/// Where bytes were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In the object store.
    Store,
    /// In the staging area, before their upload or shortly after it.
    Staging,
}

impl Knowledge {
    /// The stored document of an entry, or its newer version if the entry is outdated.
    pub async fn document_bytes(&self, entry: &Entry) -> Result<DocumentBytes, Error> {
        if let Some(bytes) = self.cache.get(&entry.hash) {
            return Ok(DocumentBytes { hash: entry.hash.clone(), bytes });
        }
        let (found, origin) = self.document_bytes_uncached(entry).await?;
        match origin {
            Origin::Store => self.cache.insert(found.hash.clone(), found.bytes.clone()),
            // The object may be corrupt, which a cached document would hide.
            Origin::Staging => {}
        }
        Ok(found)
    }

    /// Like `document_bytes`, without the cache: a scan over all documents must not evict hot ones.
    async fn document_bytes_uncached(&self, entry: &Entry) -> Result<(DocumentBytes, Origin), Error> {
        if let Some(found) = self.fetch(entry).await? {
            return Ok(found);
        }
        self.update_catalog().await.map_err(db_error)?;
        let snapshot = self.snapshot();
        let Some(current) = snapshot.catalog.get(&entry.summary.content_type, &entry.summary.id) else {
            return Err(Error::Failed {
                code: ErrorCode::NotFound,
                message: "Document not found".to_owned(),
            });
        };
        if let Some(found) = self.fetch(current).await? {
            return Ok(found);
        }
        self.repair(current).await;
        let message = "the stored document is corrupt and is being restored; retry in a moment".to_owned();
        Err(Error::Failed { code: ErrorCode::Unavailable, message })
    }

    /// The parsed document of an entry.
    pub async fn document(&self, entry: &Entry) -> Result<Document, Error> {
        let stored = self.document_bytes(entry).await?;
        serde_json::from_slice(&stored.bytes).map_err(Error::internal)
    }

    /// Like `document`, without the cache.
    pub(crate) async fn document_uncached(&self, entry: &Entry) -> Result<Document, Error> {
        let (found, _) = self.document_bytes_uncached(entry).await?;
        serde_json::from_slice(&found.bytes).map_err(Error::internal)
    }

    /// Fetches the bytes of an entry from the object store or the staging area; `None` if they are in neither.
    async fn fetch(&self, entry: &Entry) -> Result<Option<(DocumentBytes, Origin)>, Error> {
        let key = Key::content(&entry.summary.content_type, &entry.summary.id).map_err(Error::internal)?;
        let mut origin = Origin::Store;
        let mut found = self.get_object(&key, &entry.hash).await;
        if !matches!(found, Ok(Some(_))) {
            let (source, expected) = (self.options.key(), entry.hash.clone());
            let staged =
                self.db.read(move |tx| documents::body(tx, &source, &expected)).await.map_err(db_error)?;
            found = match (staged, found) {
                (Some(bytes), _) => {
                    origin = Origin::Staging;
                    Ok(Some(bytes))
                }
                // They may have been uploaded between the two lookups.
                (None, Ok(_)) => self.get_object(&key, &entry.hash).await,
                // An unavailable store doesn't mean that the object is missing.
                (None, Err(error)) => Err(error),
            };
        }
        let Some(bytes) = found? else { return Ok(None) };
        Ok(Some((DocumentBytes { hash: entry.hash.clone(), bytes: bytes.into() }, origin)))
    }

    /// Reads an object; `None` if it is missing or has another hash.
    async fn get_object(&self, key: &Key, expected: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.options.objects.get(key).await {
            Ok(stored) => Ok(stored.filter(|bytes| hash(bytes) == expected).map(|bytes| bytes.to_vec())),
            Err(error) => {
                tracing::warn!(error.cause = %error, object.key = key.as_str(), "could not read an object");
                Err(Error::Failed { code: ErrorCode::Unavailable, message: error.to_string() })
            }
        }
    }

    /// Restores a document whose object is missing or corrupt.
    async fn repair(&self, entry: &Entry) {
        {
            let mut last_repair = self.last_repair.lock().unwrap_or_else(PoisonError::into_inner);
            if last_repair.is_some_and(|at| at.elapsed() < REPAIR_INTERVAL) {
                return;
            }
            *last_repair = Some(Instant::now());
        }
        tracing::error!(
            document.path = entry.summary.path,
            "a stored document is missing or corrupt; restoring it"
        );
        let (name, path) = (self.options.key(), entry.summary.path.clone());
        let requested = self.db.write(self.options.about(), move |tx| {
            documents::forget_content(tx, &name, &path)?;
            documents::request_sync(tx, &name)
        });
        match requested.await {
            Ok(()) => self.sync_requested.notify_one(),
            Err(error) => {
                tracing::error!(error.cause = %error, "could not mark a corrupt document for restoring");
            }
        }
    }
}
