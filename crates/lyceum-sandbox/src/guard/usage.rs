//! Resource usage of all processes of a run together. Rlimits apply per process; this adds them up.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{statfs, statvfs},
    process::Pid,
};

use super::{namespaces::SCRATCH_ENTRIES, status, tree::descendants};
use crate::{Limits, MemoryLimit, StopReason, wire::Mechanism};

/// Magic number of tmpfs.
const TMPFS: i128 = 0x0102_1994;

/// What to check.
pub(super) struct Usage {
    /// Memory limit; `None` if a cgroup enforces it.
    memory: Option<u64>,
    scratch: Scratch,
}

/// What to check of the scratch folder.
enum Scratch {
    /// Nothing: it is a tmpfs of limited size.
    Unchecked,
    /// The number of files: it is a tmpfs that limits only the size, visible in the run's mount namespace.
    Entries(PathBuf),
    /// Size and number of files: it is a folder on disk.
    All(PathBuf, u64),
}

impl Usage {
    /// What nothing else limits for this mechanism.
    pub(super) fn of(
        mechanism: &Mechanism,
        scratch: &Path,
        limits: &Limits,
        memory: MemoryLimit,
    ) -> Option<Self> {
        let scratch = match mechanism {
            Mechanism::None => return None,
            Mechanism::Standard { namespaces: true, .. } => Scratch::Unchecked,
            Mechanism::Standard { namespaces: false, .. } => {
                Scratch::All(scratch.to_owned(), limits.scratch_bytes)
            }
            Mechanism::Strict { .. } => Scratch::Entries(scratch.to_owned()),
        };
        let memory = (memory == MemoryLimit::Polling).then_some(limits.memory_bytes);
        Some(Self { memory, scratch })
    }

    /// The limit that the descendants of a process exceed, if any.
    pub(super) fn exceeded(&self, root: Pid) -> Option<StopReason> {
        let pids = descendants(root);
        if self.memory.is_some_and(|max| pids.iter().map(|pid| memory(*pid)).sum::<u64>() > max) {
            return Some(StopReason::Memory);
        }
        let full = match &self.scratch {
            Scratch::Unchecked => false,
            Scratch::Entries(scratch) => {
                pids.iter().any(|pid| entries_seen_by(*pid, scratch) > SCRATCH_ENTRIES)
            }
            Scratch::All(scratch, max) => {
                let deleted = deleted_files(pids.iter().copied());
                on_disk(scratch).is_none_or(|bytes| bytes.saturating_add(deleted) > *max)
            }
        };
        full.then_some(StopReason::Scratch)
    }
}

/// Memory of a process that is not backed by files: private, and shared. Shared memory counts once per process, so
/// the limit errs on the safe side.
fn memory(pid: Pid) -> u64 {
    let status = status::read(pid);
    let kibibytes = |name: &str| status::number(&status, name).unwrap_or_default();
    kibibytes("RssAnon:").saturating_add(kibibytes("RssShmem:")).saturating_mul(1024)
}

/// Number of files on the mount that a process sees at a path.
fn entries_seen_by(pid: Pid, scratch: &Path) -> u64 {
    let path = format!("/proc/{}/root{}", pid.as_raw_pid(), scratch.display());
    // The scratch folder is a mount only once bubblewrap has created it.
    match (statfs(&path), statvfs(&path)) {
        (Ok(kind), Ok(mount)) if i128::from(kind.f_type) == TMPFS => {
            mount.f_files.saturating_sub(mount.f_ffree)
        }
        _ => 0,
    }
}

/// Disk usage of a folder. `None` if it can't be determined, because there are too many files or the script denies
/// access.
fn on_disk(folder: &Path) -> Option<u64> {
    let (mut bytes, mut entries) = (0_u64, 0);
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let listing = match fs::read_dir(&folder) {
            Ok(listing) => listing,
            // Removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_hidden) => return None,
        };
        for entry in listing.flatten() {
            entries += 1;
            if entries > SCRATCH_ENTRIES {
                return None;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(metadata.blocks().saturating_mul(512));
            if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Some(bytes)
}

/// Disk usage of deleted files that are still open.
fn deleted_files(pids: impl Iterator<Item = Pid>) -> u64 {
    let mut files = BTreeMap::new();
    for pid in pids {
        let Ok(open) = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_pid())) else { continue };
        for metadata in open.flatten().filter_map(|file| fs::metadata(file.path()).ok()) {
            if metadata.is_file() && metadata.nlink() == 0 {
                files.insert((metadata.dev(), metadata.ino()), metadata.blocks().saturating_mul(512));
            }
        }
    }
    files.into_values().sum()
}
