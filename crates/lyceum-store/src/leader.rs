//! Who brings a data folder up to date: one process at a time, by a lock that the system ends with its holder.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
};

/// The right to bring a data folder up to date, for as long as this is kept.
#[derive(Debug)]
pub struct Leader {
    _lock: File,
}

impl Leader {
    /// Takes the lock, unless another process has it. The file stays behind; only the lock on it counts.
    pub fn try_take(folder: &Path) -> io::Result<Option<Self>> {
        let file =
            OpenOptions::new().create(true).write(true).truncate(false).open(folder.join("leader.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
