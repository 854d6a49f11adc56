//! Documents as objects: bytes under a key, replaced whole, never in part.
//!
//! What `put` has returned is kept, come what may. Which objects count is said by the database, so that a reader
//! never sees half of a change.

mod disk_name;
mod error;
mod folders;
mod key;
mod names;
mod s3;

use std::{fmt, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt, local::LocalFileSystem, memory::InMemory,
    path::Path as Location,
};

pub use error::ObjectError;
pub use key::{InvalidKey, Key};
pub use s3::S3Settings;

use folders::Folders;
use names::Names;

/// Objects by their keys, on a disk, in memory or at an S3-compatible store. Cloning is cheap.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    names: Names,
    options: ObjectOptions,
}

/// How objects are read and written.
#[derive(Debug, Clone, Copy)]
pub struct ObjectOptions {
    /// How long one operation may take; with `put_all`, each object.
    pub limit: Duration,
    /// How many objects `put_all` writes at the same time. Each waits for the disk most of the time, and those
    /// that wait together are served together; but each takes a thread, and a thread takes memory.
    pub at_once: usize,
    /// How large an object may be, in bytes.
    pub largest: u64,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        Self { limit: Duration::from_secs(30), at_once: 16, largest: 64 * 1024 * 1024 }
    }
}

impl Objects {
    /// Keeps objects below a folder, which is made if it is not there. Waits for the disk.
    ///
    /// What was put is on the disk, with its name, when `put` returns; what was deleted may be back after a power cut.
    pub fn local(folder: &Path) -> Result<Self, ObjectError> {
        let unusable =
            |error: std::io::Error| ObjectError::Folder { kind: error.kind(), source: error.into() };
        let folders = Folders::open(folder).map_err(unusable)?;
        let store = LocalFileSystem::new_with_prefix(folders.root())?.with_fsync(true);
        Ok(Self::over(Arc::new(store), Names::Paths(Arc::new(folders))))
    }

    /// Keeps objects in memory, until the last clone is dropped.
    pub fn memory() -> Self {
        Self::over(Arc::new(InMemory::new()), Names::keys())
    }

    /// Keeps objects at an S3-compatible store. Nothing is sent before the first operation.
    pub fn s3(settings: &S3Settings) -> Result<Self, ObjectError> {
        let names = Names::keys_below(&settings.prefix);
        let names = names.map_err(|error| ObjectError::Settings(error.to_string()))?;
        Ok(Self::over(s3::connect(settings)?, names))
    }

    /// The same objects, read and written otherwise.
    pub fn with_options(mut self, options: ObjectOptions) -> Self {
        self.options = options;
        self
    }

    fn over(store: Arc<dyn ObjectStore>, names: Names) -> Self {
        Self { store, names, options: ObjectOptions::default() }
    }

    /// Clears what a crash left half-written, however young it is: for whoever is alone in writing here.
    pub async fn clear_unfinished(&self) -> Result<(), ObjectError> {
        self.names.clear_unfinished().await
    }

    /// Keeps bytes under a key, in place of what was there.
    pub async fn put(&self, key: &Key, bytes: Bytes) -> Result<(), ObjectError> {
        self.check_size(bytes.len() as u64)?;
        let location = self.names.location(key)?;
        let write = async {
            self.names.make_room(&location).await?;
            self.store.put(&location, bytes.into()).await?;
            Ok(())
        };
        self.within_limit(write).await
    }

    /// Keeps many objects, several at a time; the results are in the order of the items.
    ///
    /// The keys are expected to differ: of two items with one key, either may stay.
    pub async fn put_all(&self, items: Vec<(Key, Bytes)>) -> Vec<(Key, Result<(), ObjectError>)> {
        let puts = items.into_iter().map(|(key, bytes)| async move {
            let result = self.put(&key, bytes).await;
            (key, result)
        });
        stream::iter(puts).buffered(self.options.at_once.max(1)).collect().await
    }

    /// The bytes under a key; nothing if there are none.
    pub async fn get(&self, key: &Key) -> Result<Option<Bytes>, ObjectError> {
        let Some(location) = self.place(key)? else { return Ok(None) };
        let read = async {
            let Some(found) = if_there(self.store.get(&location).await)? else { return Ok(None) };
            self.check_size(found.meta.size)?;
            Ok(if_there(found.bytes().await)?)
        };
        self.within_limit(read).await
    }

    /// Forgets what is under a key, if there is something.
    pub async fn delete(&self, key: &Key) -> Result<(), ObjectError> {
        let Some(location) = self.place(key)? else { return Ok(()) };
        let delete = async {
            if_there(self.store.delete(&location).await)?;
            Ok(())
        };
        self.within_limit(delete).await
    }

    /// All keys in a folder and the folders below it, in order; of all objects where the folder is empty text.
    ///
    /// A list is whole or not at all: where there are more than `most`, that is the answer.
    pub async fn list(&self, folder: &str, most: usize) -> Result<Vec<Key>, ObjectError> {
        let folder = folder.trim_end_matches('/');
        if !folder.is_empty() && Key::parse(folder).is_err() {
            return Ok(Vec::new());
        }
        let names = self.store.list(Some(&self.names.folder(folder)?)).take(most.saturating_add(1));
        let names = async { Ok(names.map_ok(|meta| meta.location).try_collect::<Vec<_>>().await?) };
        let names = self.within_limit(names).await?;
        if names.len() > most {
            return Err(ObjectError::TooMany { most });
        }
        let mut keys: Vec<Key> = names.iter().filter_map(|name| self.names.key(name)).collect();
        keys.sort();
        Ok(keys)
    }

    /// Where a key is if it is there: under a name that the store does not take there is nothing.
    fn place(&self, key: &Key) -> Result<Option<Location>, ObjectError> {
        match self.names.location(key) {
            Ok(location) => Ok(Some(location)),
            Err(ObjectError::NameTooLong(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn check_size(&self, bytes: u64) -> Result<(), ObjectError> {
        let most = self.options.largest;
        if bytes > most { Err(ObjectError::TooLarge { most }) } else { Ok(()) }
    }

    async fn within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, ObjectError>>,
    ) -> Result<T, ObjectError> {
        let limit = self.options.limit;
        tokio::time::timeout(limit, work).await.unwrap_or(Err(ObjectError::TooSlow { limit }))
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The store itself would show how it is opened.
        f.debug_struct("Objects").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Makes a value of an object that is not there.
fn if_there<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
