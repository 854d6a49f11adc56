//! Change detection for files of a folder, by identity, size and timestamps.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::fs::Stat;

/// Timestamp granularity: two changes within it can get the same timestamp. Some file systems store whole seconds only,
/// recognizable by timestamps without a fraction.
const MTIME_GRANULARITY: Duration = Duration::from_millis(20);
const COARSE_MTIME_GRANULARITY: Duration = Duration::from_secs(2);

/// How far a file system's clock may be ahead of ours.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(60);

/// Identity of a file and its last change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileMark {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i64,
    changed: i64,
    /// A unique number if the file changed just now ("racily clean" in Git): the next change could get the same
    /// timestamp.
    unsettled: Option<u64>,
}

impl FileMark {
    /// Builds the mark from a `stat` taken at `now`, in nanoseconds since 1970.
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

    /// A form that is valid across processes; `None` if the file changed just now.
    pub(crate) fn durable(&self) -> Option<String> {
        let Self { device, inode, size, modified, changed, unsettled } = self;
        unsettled.is_none().then(|| format!("{device}:{inode}:{size}:{modified}:{changed}"))
    }

    /// Unchanged in a copy that preserves modification times.
    pub(crate) fn size_and_time(&self) -> String {
        format!("{}:{}", self.size, self.modified)
    }

    /// When the content was last modified, in nanoseconds since 1970.
    pub(super) fn modified(&self) -> i64 {
        self.modified
    }

    /// The size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

/// The field types of `stat` differ between systems.
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
