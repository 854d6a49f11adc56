//! What keys are called in a store.

use std::{path, sync::Arc};

use object_store::path::Path;

use super::{InvalidKey, Key, ObjectError, disk_name, folders::Folders};

/// The longest name of a file on common disks, less the `#1` that `object_store` adds while it writes, with room
/// for what crashes may have left.
const MAX_FILE_NAME_BYTES: usize = 255 - 4;

/// What keys are called in a store.
#[derive(Clone)]
pub(super) enum Names {
    /// What they are, after a prefix, which is empty or ends in `/`.
    Keys { prefix: String },
    /// Paths on a disk.
    Paths(Arc<Folders>),
}

impl Names {
    /// The keys as they are.
    pub(super) fn keys() -> Self {
        Self::Keys { prefix: String::new() }
    }

    /// The keys below a folder; the same as they are if that is empty text.
    pub(super) fn keys_below(folder: &str) -> Result<Self, InvalidKey> {
        match folder.trim_end_matches('/') {
            "" => Ok(Self::keys()),
            folder => Ok(Self::Keys { prefix: format!("{}/", Key::parse(folder)?) }),
        }
    }

    /// Where a key is in the store.
    pub(super) fn location(&self, key: &Key) -> Result<Path, ObjectError> {
        match self {
            Self::Keys { prefix } => prefixed(prefix, key.as_str()),
            Self::Paths(_) => disk_path(&disk_name::encode(key.as_str())),
        }
    }

    /// Where the keys of a folder are in the store; all of them if it is empty text.
    pub(super) fn folder(&self, folder: &str) -> Result<Path, ObjectError> {
        match self {
            Self::Keys { prefix } => prefixed(prefix, folder),
            Self::Paths(_) => disk_path(&disk_name::encode_folder(folder)),
        }
    }

    /// The key of what is in the store; nothing if somebody else has put it there.
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

    /// Clears what a crash left half-written.
    pub(super) async fn clear_unfinished(&self) -> Result<(), ObjectError> {
        let Self::Paths(folders) = self else { return Ok(()) };
        let folders = folders.clone();
        let cleared = tokio::task::spawn_blocking(move || folders.clear_unfinished()).await;
        cleared.map_err(|error| ObjectError::Failed(error.into()))
    }

    /// Sees to it that an object can be put there.
    pub(super) async fn make_room(&self, location: &Path) -> Result<(), ObjectError> {
        let Self::Paths(folders) = self else { return Ok(()) };
        let folder = path::Path::new(location.as_ref()).parent().unwrap_or(path::Path::new(""));
        if folders.is_known(folder) {
            return Ok(());
        }
        let (folders, folder) = (folders.clone(), folder.to_owned());
        let made = tokio::task::spawn_blocking(move || folders.make(&folder)).await;
        Ok(made.map_err(|error| ObjectError::Failed(error.into()))??)
    }
}

fn prefixed(prefix: &str, key: &str) -> Result<Path, ObjectError> {
    if prefix.len() + key.len() > Key::MAX_BYTES {
        return Err(ObjectError::NameTooLong("shorten the path, or what stands before every key"));
    }
    parse(&format!("{prefix}{key}"))
}

fn disk_path(name: &str) -> Result<Path, ObjectError> {
    if name.split('/').any(|part| part.len() > MAX_FILE_NAME_BYTES) {
        return Err(ObjectError::NameTooLong(
            "shorten each part of the path to at most 251 bytes (a letter beyond ASCII takes 2 to 4)",
        ));
    }
    parse(name)
}

fn parse(name: &str) -> Result<Path, ObjectError> {
    Path::parse(name).map_err(|error| ObjectError::Failed(error.into()))
}
