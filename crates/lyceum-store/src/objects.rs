//! Documents as objects: bytes under a key, replaced whole, never in part.
//!
//! What `put` has returned is kept, come what may. Which objects count is said by the database, so that a reader
//! never sees half of a change.

mod disk_name;
mod error;
mod key;

use std::{fmt, fs, path, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt, local::LocalFileSystem, memory::InMemory, path::Path,
};

pub use error::ObjectError;
pub use key::{InvalidKey, Key};

/// The longest name of a file that common file systems take, less what `object_store` adds while it writes.
const LONGEST_NAME: usize = 255 - 4;

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
    /// How long one operation may take.
    pub limit: Duration,
    /// How many objects `put_all` writes at the same time.
    pub at_once: usize,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        Self { limit: Duration::from_secs(30), at_once: 32 }
    }
}

/// What the names in the store are.
#[derive(Debug, Clone, Copy)]
enum Names {
    /// The keys themselves.
    Keys,
    /// Paths on a disk.
    Paths,
}

impl Objects {
    /// Keeps objects below a folder, which is made if it is not there.
    pub fn local(folder: &path::Path) -> Result<Self, ObjectError> {
        fs::create_dir_all(folder).map_err(ObjectError::Folder)?;
        let store = LocalFileSystem::new_with_prefix(folder)?;
        Ok(Self::over(Arc::new(store.with_fsync(true).with_automatic_cleanup(true)), Names::Paths))
    }

    /// Keeps objects in memory, until the last clone is dropped.
    pub fn memory() -> Self {
        Self::over(Arc::new(InMemory::new()), Names::Keys)
    }

    /// The same objects, read and written otherwise.
    pub fn with_options(mut self, options: ObjectOptions) -> Self {
        self.options = options;
        self
    }

    fn over(store: Arc<dyn ObjectStore>, names: Names) -> Self {
        Self { store, names, options: ObjectOptions::default() }
    }

    /// Keeps bytes under a key, in place of what was there.
    pub async fn put(&self, key: &Key, bytes: Bytes) -> Result<(), ObjectError> {
        let location = self.location(key)?;
        self.within_limit(self.store.put(&location, bytes.into())).await?;
        Ok(())
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
        let location = self.location(key)?;
        let read = async { self.store.get(&location).await?.bytes().await };
        self.within_limit(if_there(read)).await
    }

    /// Forgets what is under a key, if there is something.
    pub async fn delete(&self, key: &Key) -> Result<(), ObjectError> {
        let location = self.location(key)?;
        self.within_limit(if_there(self.store.delete(&location))).await?;
        Ok(())
    }

    /// All keys in a folder and the folders below it, in order; of all objects where the folder is empty text.
    ///
    /// A list is whole or not at all: where there are more than `most`, that is the answer.
    pub async fn list(&self, folder: &str, most: usize) -> Result<Vec<Key>, ObjectError> {
        let folder = folder.trim_end_matches('/');
        if !folder.is_empty() && Key::parse(folder).is_err() {
            return Ok(Vec::new());
        }
        let prefix = self.prefix(folder)?;
        let names =
            self.store.list(prefix.as_ref()).take(most.saturating_add(1)).map_ok(|meta| meta.location);
        let names: Vec<Path> = self.within_limit(names.try_collect()).await?;
        if names.len() > most {
            return Err(ObjectError::TooMany { most });
        }
        let mut keys: Vec<Key> = names.iter().filter_map(|name| self.key(name)).collect();
        keys.sort();
        Ok(keys)
    }

    /// Where a key is in the store.
    fn location(&self, key: &Key) -> Result<Path, ObjectError> {
        let name = match self.names {
            Names::Keys => key.as_str().to_owned(),
            Names::Paths => disk_name::encode(key.as_str()),
        };
        self.path(&name)
    }

    /// Where the keys of a folder are in the store.
    fn prefix(&self, folder: &str) -> Result<Option<Path>, ObjectError> {
        match (folder, self.names) {
            ("", _) => Ok(None),
            (_, Names::Keys) => self.path(folder).map(Some),
            (_, Names::Paths) => self.path(&disk_name::encode_folder(folder)).map(Some),
        }
    }

    fn path(&self, name: &str) -> Result<Path, ObjectError> {
        let too_long = name.split('/').find(|part| part.len() > LONGEST_NAME);
        if let (Names::Paths, Some(part)) = (self.names, too_long) {
            let name = part.chars().take(40).collect();
            return Err(ObjectError::NameTooLong { name, bytes: part.len(), most: LONGEST_NAME });
        }
        Path::parse(name).map_err(|error| ObjectError::Failed(error.into()))
    }

    /// The key of what is in the store; nothing if somebody else has put it there.
    fn key(&self, location: &Path) -> Option<Key> {
        let name = location.as_ref();
        let key = match self.names {
            Names::Keys => Key::parse(name).ok(),
            Names::Paths => disk_name::decode(name).and_then(|name| Key::parse(&name).ok()),
        };
        if key.is_none() {
            tracing::warn!(object.name = name, "the object store holds something that is not ours");
        }
        key
    }

    async fn within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, ObjectError> {
        let limit = self.options.limit;
        let done = tokio::time::timeout(limit, work).await.map_err(|_| ObjectError::TooSlow { limit })?;
        Ok(done?)
    }
}

/// Makes a value of an object that is not there.
async fn if_there<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<Option<T>, StoreError> {
    match work.await {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("names", &self.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
