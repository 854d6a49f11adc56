//! What stands for the content of a file in a folder.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::fs::Stat;

/// How long a change may share its time with the one before: clocks of file systems tick this coarsely, some even
/// in seconds, which shows in times without a fraction.
const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(2);

/// How far ahead of ours the clock of a file system may be.
const AHEAD: Duration = Duration::from_secs(60);

/// The identity of a file and the time of its last change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileMark {
    device: i128,
    inode: i128,
    size: u64,
    modified: i128,
    changed: i128,
    /// A number of its own where the file changed just now: the next change could leave the same time.
    unsettled: Option<u64>,
}

impl FileMark {
    /// The mark of a file that was looked at `now`, in nanoseconds since 1970.
    pub(super) fn new(stat: &Stat, now: i128) -> Self {
        let changed = nanoseconds(stat.st_ctime, stat.st_ctime_nsec);
        Self {
            device: stat.st_dev.into(),
            inode: stat.st_ino.into(),
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed,
            unsettled: is_unsettled(changed, now).then(next_number),
        }
    }

    /// The size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

fn nanoseconds(seconds: impl Into<i128>, fraction: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + fraction.into()
}

fn is_unsettled(changed: i128, now: i128) -> bool {
    let tick = if changed % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
    let nanos = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    (-nanos(AHEAD)..nanos(tick)).contains(&(now - changed))
}

fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
