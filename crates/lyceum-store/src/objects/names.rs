//! Maps keys to locations in a store.

use std::{path, sync::Arc};

use object_store::path::Path;

use super::{InvalidKey, Key, ObjectError, disk_name, folders::Folders};

/// Maximum length of a file name on common file systems, minus the suffix `#1` that `object_store` adds to
/// temporary files, with room for larger numbers after crashes.
const MAX_FILE_NAME_BYTES: usize = 255 - 4;

/// Maps keys to locations in a store.
#[derive(Clone)]
pub(super) enum Names {
    /// The key itself, after a prefix, which is empty or ends in `/`.
    Keys { prefix: String },
    /// Paths on disk.
    Paths(Arc<Folders>),
}

impl Names {
    /// Keys without prefix.
    pub(super) fn keys() -> Self {
        Self::Keys { prefix: String::new() }
    }

    /// Keys with a folder as prefix; without prefix if it is empty.
    pub(super) fn keys_below(folder: &str) -> Result<Self, InvalidKey> {
        match folder.trim_end_matches('/') {
            "" => Ok(Self::keys()),
            folder => Ok(Self::Keys { prefix: format!("{}/", Key::parse(folder)?) }),
        }
    }

    /// Location of a key.
    pub(super) fn location(&self, key: &Key) -> Result<Path, ObjectError> {
        match self {
            Self::Keys { prefix } => prefixed(prefix, key.as_str()),
            Self::Paths(_) => disk_path(&disk_name::encode(key.as_str())),
        }
    }

    /// Location of a folder of keys; of all keys if it is empty.
    pub(super) fn folder(&self, folder: &str) -> Result<Path, ObjectError> {
        match self {
            Self::Keys { prefix } => prefixed(prefix, folder),
            Self::Paths(_) => disk_path(&disk_name::encode_folder(folder)),
        }
    }

    /// Key of a location; `None` for objects that are not ours.
    pub(super) fn key(&self, location: &Path) -> Option<Key> {
        let name = location.as_ref();
        let key = match self {
            Self::Keys { prefix } => name.strip_prefix(prefix).map(str::to_owned),
            Self::Paths(_) => disk_name::decode(name),
        };
        let key = key.and_then(|key| Key::parse(&key).ok());
        if key.is_none() {
            tracing::warn!(object.name = name, "ignoring an object with an unknown name in the object store");
        }
        key
    }

    /// Deletes temporary files left by a crash.
    pub(super) async fn clear_unfinished(&self) -> Result<(), ObjectError> {
        let Self::Paths(folders) = self else { return Ok(()) };
        let folders = folders.clone();
        let cleared = tokio::task::spawn_blocking(move || folders.clear_unfinished()).await;
        cleared.map_err(|error| ObjectError::Failed(error.into()))
    }

    /// Creates the folder of a location, if the store has folders.
    pub(super) async fn create_folder(&self, location: &Path) -> Result<(), ObjectError> {
        let Self::Paths(folders) = self else { return Ok(()) };
        let folder = path::Path::new(location.as_ref()).parent().unwrap_or(path::Path::new(""));
        if folders.is_known(folder) {
            return Ok(());
        }
        let (folders, folder) = (folders.clone(), folder.to_owned());
        let made = tokio::task::spawn_blocking(move || folders.create(&folder)).await;
        Ok(made.map_err(|error| ObjectError::Failed(error.into()))??)
    }
}

fn prefixed(prefix: &str, key: &str) -> Result<Path, ObjectError> {
    if prefix.len() + key.len() > Key::MAX_BYTES {
        return Err(ObjectError::NameTooLong("shorten the path, or the prefix of all keys"));
    }
    parse(&format!("{prefix}{key}"))
}

fn disk_path(name: &str) -> Result<Path, ObjectError> {
    if name.split('/').any(|part| part.len() > MAX_FILE_NAME_BYTES) {
        return Err(ObjectError::NameTooLong(
            "shorten each part of the path to at most 251 bytes (a non-ASCII character takes 2 to 4)",
        ));
    }
    parse(name)
}

fn parse(name: &str) -> Result<Path, ObjectError> {
    Path::parse(name).map_err(|error| ObjectError::Failed(error.into()))
}
