//! What keys are called in a store.

use std::{path, sync::Arc};

use object_store::path::Path;

use super::{Key, ObjectError, disk_name, folders::Folders};

/// The longest name of a file on common disks, less the `#1` that `object_store` adds while it writes, with room
/// for what crashes may have left.
const LONGEST_NAME: usize = 255 - 4;

/// What keys are called in a store.
#[derive(Clone)]
pub(super) enum Names {
    /// What they are.
    Keys,
    /// Paths on a disk.
    Paths(Arc<Folders>),
}

impl Names {
    /// Where a key is in the store.
    pub(super) fn location(&self, key: &Key) -> Result<Path, ObjectError> {
        match self {
            Self::Keys => parse(key.as_str()),
            Self::Paths(_) => disk_path(&disk_name::encode(key.as_str())),
        }
    }

    /// Where the keys of a folder are in the store.
    pub(super) fn folder(&self, folder: &str) -> Result<Path, ObjectError> {
        match self {
            Self::Keys => parse(folder),
            Self::Paths(_) => disk_path(&disk_name::encode_folder(folder)),
        }
    }

    /// The key of what is in the store; nothing if somebody else has put it there.
    pub(super) fn key(&self, location: &Path) -> Option<Key> {
        let name = location.as_ref();
        let key = match self {
            Self::Keys => Key::parse(name).ok(),
            Self::Paths(_) => disk_name::decode(name).and_then(|name| Key::parse(&name).ok()),
        };
        if key.is_none() {
            tracing::warn!(object.name = name, "the object store holds something that is not ours");
        }
        key
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

fn disk_path(name: &str) -> Result<Path, ObjectError> {
    if name.split('/').any(|part| part.len() > LONGEST_NAME) {
        return Err(ObjectError::NameTooLong(
            "shorten each part of the path to at most 251 bytes (a letter beyond ASCII takes 2 to 4)",
        ));
    }
    parse(name)
}

fn parse(name: &str) -> Result<Path, ObjectError> {
    Path::parse(name).map_err(|error| ObjectError::Failed(error.into()))
}
