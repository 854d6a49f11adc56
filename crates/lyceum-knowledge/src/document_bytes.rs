//! The bytes of a document: where they belong, or on their way there, and never others than its entry says.

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
    service::failed,
};

/// How long lies between two syncs that damaged documents ask for.
const REPAIR_INTERVAL: Duration = Duration::from_secs(5);

/// A document as it is kept.
#[derive(Debug, Clone)]
pub struct DocumentBytes {
    /// The hash of the bytes.
    pub hash: String,
    /// JSON, the same for as long as the hash is the same.
    pub bytes: Arc<[u8]>,
}

impl Knowledge {
    /// The document of an entry as it is kept, or what took its place since the caller looked.
    pub async fn document_bytes(&self, entry: &Entry) -> Result<DocumentBytes, Error> {
        if let Some(bytes) = self.cache.get(&entry.hash) {
            return Ok(DocumentBytes { hash: entry.hash.clone(), bytes });
        }
        let stored = self.document_bytes_uncached(entry).await?;
        self.cache.insert(stored.hash.clone(), stored.bytes.clone());
        Ok(stored)
    }

    /// The same, for one who reads everything once: what is held in memory stays what is often asked for.
    async fn document_bytes_uncached(&self, entry: &Entry) -> Result<DocumentBytes, Error> {
        if let Some(stored) = self.fetch(entry).await? {
            return Ok(stored);
        }
        self.update_catalog().await.map_err(failed)?;
        let snapshot = self.snapshot();
        let Some(current) = snapshot.catalog.get(&entry.summary.content_type, &entry.summary.id) else {
            return Err(Error::Failed {
                code: ErrorCode::NotFound,
                message: "Document not found".to_owned(),
            });
        };
        if let Some(stored) = self.fetch(current).await? {
            return Ok(stored);
        }
        self.heal(current).await;
        let message = "the stored document is corrupt and is being restored; retry in a moment".to_owned();
        Err(Error::Failed { code: ErrorCode::Unavailable, message })
    }

    /// The document of an entry.
    pub async fn document(&self, entry: &Entry) -> Result<Document, Error> {
        let stored = self.document_bytes(entry).await?;
        serde_json::from_slice(&stored.bytes).map_err(Error::internal)
    }

    /// The document of an entry, for one who reads everything once.
    pub(crate) async fn document_aside(&self, entry: &Entry) -> Result<Document, Error> {
        let stored = self.document_bytes_uncached(entry).await?;
        serde_json::from_slice(&stored.bytes).map_err(Error::internal)
    }

    /// The bytes that an entry speaks of; nothing where they are nowhere.
    async fn fetch(&self, entry: &Entry) -> Result<Option<DocumentBytes>, Error> {
        let key = Key::content(&entry.summary.content_type, &entry.summary.id).map_err(Error::internal)?;
        let mut found = self.in_place(&key, &entry.hash).await;
        if !matches!(found, Ok(Some(_))) {
            let wanted = entry.hash.clone();
            let staged = self.db.read(move |tx| documents::body(tx, &wanted)).await.map_err(failed)?;
            found = match (staged, found) {
                (Some(bytes), _) => Ok(Some(bytes)),
                // They may have been put in their place between the two looks.
                (None, Ok(_)) => self.in_place(&key, &entry.hash).await,
                // A store that can't be asked says nothing about what is in it.
                (None, Err(error)) => Err(error),
            };
        }
        let Some(bytes) = found? else { return Ok(None) };
        Ok(Some(DocumentBytes { hash: entry.hash.clone(), bytes: bytes.into() }))
    }

    /// The bytes of that hash where they belong.
    async fn in_place(&self, key: &Key, wanted: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.options.objects.get(key).await {
            Ok(stored) => Ok(stored.filter(|bytes| hash(bytes) == wanted).map(|bytes| bytes.to_vec())),
            Err(error) => {
                tracing::warn!(error.cause = %error, object.key = key.as_str(), "could not read an object");
                Err(Error::Failed { code: ErrorCode::Unavailable, message: error.to_string() })
            }
        }
    }

    /// Restores a document whose object is missing or corrupt.
    async fn heal(&self, entry: &Entry) {
        {
            let mut healed = self.healed.lock().unwrap_or_else(PoisonError::into_inner);
            if healed.is_some_and(|at| at.elapsed() < REPAIR_INTERVAL) {
                return;
            }
            *healed = Some(Instant::now());
        }
        tracing::error!(
            document.path = entry.summary.path,
            "a stored document is missing or corrupt; restoring it"
        );
        let (name, path) = (self.options.name.to_string(), entry.summary.path.clone());
        let requested = self.db.write(move |tx| {
            documents::forget_content(tx, &name, &path)?;
            documents::want(tx, &name)
        });
        match requested.await {
            Ok(()) => self.sync_requested.notify_one(),
            Err(error) => {
                tracing::error!(error.cause = %error, "could not mark a corrupt document for restoring");
            }
        }
    }
}
