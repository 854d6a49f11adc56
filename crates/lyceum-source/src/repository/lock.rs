//! Lock file of a clone: only one process at a time changes it.
//!
//! The file stays; the lock is an OS file lock, so it is released when its process is killed. The content is the
//! process group of the last `git`, so that the next holder can tell whether it is still running.

use std::{
    fs::{File, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
    time::Duration,
};

use rustix::process::Pid;
use tokio::time::{Instant, sleep};

use crate::{Error, git::is_running};

/// How often to retry the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A held lock.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Acquires the lock, waiting up to `limit`.
    pub(super) async fn take(path: &Path, limit: Duration) -> Result<Self, Error> {
        let deadline = Instant::now() + limit;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io("create the clones folder"))?;
        }
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(Error::io("open the lock file of the clone"))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(POLL_INTERVAL).await,
                Err(TryLockError::WouldBlock) => return Err(Error::Busy),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock the clone")(error)),
            }
        }
    }

    /// Records the process group that works on the clone.
    pub(super) fn record_group(&self, group: Pid) {
        let mut file = &self.0;
        let written = file.rewind().and_then(|()| self.0.set_len(0)).and_then(|()| write!(file, "{group}"));
        if let Err(error) = written {
            tracing::debug!(%error, "could not write the lock file of a clone");
        }
    }

    /// Whether the last recorded group, of this process or an earlier one, has exited.
    pub(super) fn is_idle(&self) -> bool {
        let mut text = String::new();
        let mut file = &self.0;
        let read = file.rewind().and_then(|()| file.take(16).read_to_string(&mut text));
        let group = read.ok().and_then(|_| text.trim().parse().ok()).and_then(Pid::from_raw);
        // Without a record, git was never started.
        group.is_none_or(|group| !is_running(group))
    }
}
