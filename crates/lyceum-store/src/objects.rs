//! The object store: bytes under a key, always replaced as a whole.
//!
//! What `put` has acknowledged is durable. The database says which objects are current, so a reader never sees
//! half a change.

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

/// An object store: local disk, memory or S3-compatible. Cheap to clone.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    names: Names,
    options: ObjectOptions,
}

/// Options for reads and writes.
#[derive(Debug, Clone, Copy)]
pub struct ObjectOptions {
    /// Timeout of one operation; with `put_all`, of each object.
    pub timeout: Duration,
    /// Number of concurrent writes in `put_all`. Each mostly waits for fsync, and concurrent fsyncs are batched by
    /// the file system; but each needs a thread, and its memory.
    pub put_concurrency: usize,
    /// Maximum size of an object in bytes.
    pub max_bytes: u64,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), put_concurrency: 16, max_bytes: 64 * 1024 * 1024 }
    }
}

impl Objects {
    /// Stores objects in a folder, which is created if it doesn't exist. Blocks on the disk.
    ///
    /// When `put` returns, the object and its directory entry are on disk; a deleted object may reappear after a
    /// power failure.
    pub fn local(folder: &Path) -> Result<Self, ObjectError> {
        let unusable =
            |error: std::io::Error| ObjectError::Folder { kind: error.kind(), source: error.into() };
        let folders = Folders::open(folder).map_err(unusable)?;
        let store = LocalFileSystem::new_with_prefix(folders.root())?.with_fsync(true);
        Ok(Self::over(Arc::new(store), Names::Paths(Arc::new(folders))))
    }

    /// Stores objects in memory, until the last clone is dropped.
    pub fn memory() -> Self {
        Self::over(Arc::new(InMemory::new()), Names::keys())
    }

    /// Stores objects in an S3-compatible store. Sends nothing before the first operation.
    pub fn s3(settings: &S3Settings) -> Result<Self, ObjectError> {
        let names = Names::keys_below(&settings.prefix);
        let names = names.map_err(|error| ObjectError::Settings(error.to_string()))?;
        Ok(Self::over(s3::connect(settings)?, names))
    }

    /// Replaces the options.
    pub fn with_options(mut self, options: ObjectOptions) -> Self {
        self.options = options;
        self
    }

    fn over(store: Arc<dyn ObjectStore>, names: Names) -> Self {
        Self { store, names, options: ObjectOptions::default() }
    }

    /// Deletes temporary files left by a crash, however recent. Only for the process that holds the leader lock.
    pub async fn clear_unfinished(&self) -> Result<(), ObjectError> {
        self.names.clear_unfinished().await
    }

    /// Stores an object, replacing an existing one.
    pub async fn put(&self, key: &Key, bytes: Bytes) -> Result<(), ObjectError> {
        self.check_size(bytes.len() as u64)?;
        let location = self.names.location(key)?;
        let write = async {
            self.names.create_folder(&location).await?;
            self.store.put(&location, bytes.into()).await?;
            Ok(())
        };
        self.with_timeout(write).await
    }

    /// Stores many objects concurrently; the results are in the order of the items.
    ///
    /// The keys must differ: of two items with the same key, either may win.
    pub async fn put_all(&self, items: Vec<(Key, Bytes)>) -> Vec<(Key, Result<(), ObjectError>)> {
        let puts = items.into_iter().map(|(key, bytes)| async move {
            let result = self.put(&key, bytes).await;
            (key, result)
        });
        stream::iter(puts).buffered(self.options.put_concurrency.max(1)).collect().await
    }

    /// Returns an object; `None` if it doesn't exist.
    pub async fn get(&self, key: &Key) -> Result<Option<Bytes>, ObjectError> {
        let Some(location) = self.existing_location(key)? else { return Ok(None) };
        let read = async {
            let Some(found) = optional(self.store.get(&location).await)? else { return Ok(None) };
            self.check_size(found.meta.size)?;
            Ok(optional(found.bytes().await)?)
        };
        self.with_timeout(read).await
    }

    /// Deletes an object, if it exists.
    pub async fn delete(&self, key: &Key) -> Result<(), ObjectError> {
        let Some(location) = self.existing_location(key)? else { return Ok(()) };
        let delete = async {
            optional(self.store.delete(&location).await)?;
            Ok(())
        };
        self.with_timeout(delete).await
    }

    /// Lists the keys below a folder, sorted; all keys if the folder is empty.
    ///
    /// Never truncates: more than `max` keys are an error.
    pub async fn list(&self, folder: &str, max: usize) -> Result<Vec<Key>, ObjectError> {
        let folder = folder.trim_end_matches('/');
        if !folder.is_empty() && Key::parse(folder).is_err() {
            return Ok(Vec::new());
        }
        let names = self.store.list(Some(&self.names.folder(folder)?)).take(max.saturating_add(1));
        let names = async { Ok(names.map_ok(|meta| meta.location).try_collect::<Vec<_>>().await?) };
        let names = self.with_timeout(names).await?;
        if names.len() > max {
            return Err(ObjectError::TooMany { max });
        }
        let mut keys: Vec<Key> = names.iter().filter_map(|name| self.names.key(name)).collect();
        keys.sort();
        Ok(keys)
    }

    /// Location of an object that may exist: no object can have a key that is too long for the store.
    fn existing_location(&self, key: &Key) -> Result<Option<Location>, ObjectError> {
        match self.names.location(key) {
            Ok(location) => Ok(Some(location)),
            Err(ObjectError::NameTooLong(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn check_size(&self, bytes: u64) -> Result<(), ObjectError> {
        let max = self.options.max_bytes;
        if bytes > max { Err(ObjectError::TooLarge { max }) } else { Ok(()) }
    }

    async fn with_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, ObjectError>>,
    ) -> Result<T, ObjectError> {
        let limit = self.options.timeout;
        tokio::time::timeout(limit, work).await.unwrap_or(Err(ObjectError::Timeout { limit }))
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omits the store: its `Debug` output would include credentials.
        f.debug_struct("Objects").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Turns a not-found error into `None`.
fn optional<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
