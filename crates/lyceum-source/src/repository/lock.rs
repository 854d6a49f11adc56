//! One process at a time changes a clone.
//!
//! The lock is a file that stays; who holds it is known to the system, so that a process that was killed holds
//! nothing. It also says which process group of `git` was started last, for whoever comes next.

use std::{
    fs::{File, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
    time::Duration,
};

use rustix::process::Pid;
use tokio::time::{Instant, sleep};

use crate::{Error, git::is_at_work};

/// How often it is looked whether the lock is free.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The right to change a clone.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Waits for the turn, but not longer than the limit.
    pub(super) async fn take(path: &Path, limit: Duration) -> Result<Self, Error> {
        let until = Instant::now() + limit;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io("make the folder of the clones"))?;
        }
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(Error::io("open the lock of the clone"))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(POLL_INTERVAL).await,
                Err(TryLockError::WouldBlock) => return Err(Error::Busy),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock the clone")(error)),
            }
        }
    }

    /// Notes the process group that works on the clone now.
    pub(super) fn note(&self, group: Pid) {
        let mut file = &self.0;
        let noted = file.rewind().and_then(|()| self.0.set_len(0)).and_then(|()| write!(file, "{group}"));
        if let Err(error) = noted {
            tracing::debug!(%error, "could not write the lock file of a clone");
        }
    }

    /// Whether the group that was noted last, of this process or an earlier one, is gone.
    pub(super) fn is_left_alone(&self) -> bool {
        let mut text = String::new();
        let mut file = &self.0;
        let read = file.rewind().and_then(|()| file.take(16).read_to_string(&mut text));
        let group = read.ok().and_then(|_| text.trim().parse().ok()).and_then(Pid::from_raw);
        // Without a note nothing was ever started.
        group.is_none_or(|group| !is_at_work(group))
    }
}
