//! What stands for the content of a file in a folder.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::fs::Stat;

/// How long a change may share its time with the one before: clocks of file systems tick this coarsely, some even
/// in seconds, which shows in times without a fraction.
const MTIME_GRANULARITY: Duration = Duration::from_millis(20);
const COARSE_MTIME_GRANULARITY: Duration = Duration::from_secs(2);

/// How far ahead of ours the clock of a file system may be.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// The identity of a file and the time of its last change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileMark {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i64,
    changed: i64,
    /// A number of its own where the file changed just now: the next change could leave the same time.
    unsettled: Option<u64>,
}

impl FileMark {
    /// The mark of a file that was looked at `now`, in nanoseconds since 1970.
    pub(super) fn new(stat: &Stat, now: i64) -> Self {
        let changed = nanoseconds(stat.st_ctime, stat.st_ctime_nsec);
        Self {
            device: number(stat.st_dev),
            inode: number(stat.st_ino),
            size: number(stat.st_size),
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed,
            unsettled: is_unsettled(changed, now).then(next_number),
        }
    }

    /// A text that stands for the content in other processes too; nothing where the file changed just now.
    pub(crate) fn durable(&self) -> Option<String> {
        let Self { device, inode, size, modified, changed, unsettled } = self;
        unsettled.is_none().then(|| format!("{device}:{inode}:{size}:{modified}:{changed}"))
    }

    /// What stays the same in a copy that keeps the times of its files.
    pub(crate) fn size_and_time(&self) -> String {
        format!("{}:{}", self.size, self.modified)
    }

    /// The size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

/// The fields of a file's status have other types on other systems.
fn number(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or_default()
}

fn nanoseconds(seconds: impl TryInto<i64>, fraction: impl TryInto<i64>) -> i64 {
    let (seconds, fraction) =
        (seconds.try_into().unwrap_or_default(), fraction.try_into().unwrap_or_default());
    seconds.saturating_mul(1_000_000_000).saturating_add(fraction)
}

fn is_unsettled(changed: i64, now: i64) -> bool {
    let tick = if changed % 1_000_000_000 == 0 { COARSE_MTIME_GRANULARITY } else { MTIME_GRANULARITY };
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    (-nanos(MAX_CLOCK_SKEW)..nanos(tick)).contains(&now.saturating_sub(changed))
}

fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
