//! File locks between processes; the kernel releases them when the holder dies.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::folder::open;

/// Maximum delay between attempts.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A held lock; released on drop.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Tries to acquire the lock; `None` if another process holds it.
    pub(super) fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        Ok(try_lock(&file)?.then(|| Self(file)))
    }

    /// Acquires the lock within a timeout: a suspended holder (SIGSTOP) keeps its lock indefinitely.
    pub(super) fn acquire(path: &Path, limit: Duration) -> io::Result<Self> {
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
        // Unlock explicitly: closing is not enough while a forked child still has a copy of the descriptor.
        let _closing_unlocks_too = self.0.unlock();
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
