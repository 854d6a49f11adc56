//! Locks between processes: files that the kernel unlocks when their holder dies, however it dies.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::folder::open;

/// The longest pause between two tries.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A lock that is held; it ends with this value.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// The lock at once, or nothing where another holds it.
    pub(super) fn now(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        Ok(try_lock(&file)?.then(|| Self(file)))
    }

    /// The lock within the limit. A holder that was stopped keeps its lock, so waiting for ever could be for ever.
    pub(super) fn within(path: &Path, limit: Duration) -> io::Result<Self> {
        let file = open(path)?;
        if try_lock(&file)? {
            return Ok(Self(file));
        }
        let start = Instant::now();
        let mut pause = Duration::from_micros(20);
        while start.elapsed() < limit {
            thread::sleep(pause);
            if try_lock(&file)? {
                return Ok(Self(file));
            }
            pause = MAX_POLL_INTERVAL.min(pause * 2);
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Said aloud, because closing the file is not enough where a process that is just starting still has a copy.
        let _closing_does_it_too = self.0.unlock();
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
