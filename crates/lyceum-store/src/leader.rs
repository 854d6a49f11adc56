//! Leader election: the process that holds a file lock writes to the data folder. The OS releases the lock when
//! the process ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
};

/// The leader lock; released on drop.
#[derive(Debug)]
pub struct Leader {
    _lock: File,
}

impl Leader {
    /// Acquires the lock, unless another process holds it. The file is never deleted; only the lock on it matters.
    pub fn try_acquire(folder: &Path) -> io::Result<Option<Self>> {
        let file =
            OpenOptions::new().create(true).write(true).truncate(false).open(folder.join("leader.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
