//! What all processes of a run use together. The kernel limits each process; this looks at their sum.

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

/// The kind of a file system in memory.
const TMPFS: i128 = 0x0102_1994;

/// What is looked at.
pub(super) struct Usage {
    /// Nothing where a control group limits it.
    memory: Option<u64>,
    scratch: Scratch,
}

/// What is looked at of the scratch folder.
enum Scratch {
    /// Nothing: it is a mount of limited size.
    Nothing,
    /// The number of its files: it is a mount that only limits their size, which the run's own processes see there.
    Entries(PathBuf),
    /// All: it is a folder on disk.
    All(PathBuf, u64),
}

impl Usage {
    /// What nothing else limits, for runs by these means.
    pub(super) fn of(
        means: &Mechanism,
        scratch: &Path,
        limits: &Limits,
        memory: MemoryLimit,
    ) -> Option<Self> {
        let scratch = match means {
            Mechanism::None => return None,
            Mechanism::Standard { namespaces: true, .. } => Scratch::Nothing,
            Mechanism::Standard { namespaces: false, .. } => {
                Scratch::All(scratch.to_owned(), limits.scratch_bytes)
            }
            Mechanism::Strict { .. } => Scratch::Entries(scratch.to_owned()),
        };
        let memory = (memory == MemoryLimit::Polling).then_some(limits.memory_bytes);
        Some(Self { memory, scratch })
    }

    /// What is used up by the processes below this one, if anything is.
    pub(super) fn exceeded(&self, root: Pid) -> Option<StopReason> {
        let pids = descendants(root);
        if self.memory.is_some_and(|most| pids.iter().map(|pid| memory(*pid)).sum::<u64>() > most) {
            return Some(StopReason::Memory);
        }
        let full = match &self.scratch {
            Scratch::Nothing => false,
            Scratch::Entries(scratch) => {
                pids.iter().any(|pid| entries_seen_by(*pid, scratch) > SCRATCH_ENTRIES)
            }
            Scratch::All(scratch, most) => {
                let deleted = deleted_files(pids.iter().copied());
                on_disk(scratch).is_none_or(|bytes| bytes.saturating_add(deleted) > *most)
            }
        };
        full.then_some(StopReason::Scratch)
    }
}

/// What a process uses of memory that is of no file: its own, and what it shares with others. What two processes share
/// counts twice; a limit that errs must err to this side.
fn memory(pid: Pid) -> u64 {
    let status = status::read(pid);
    let kibibytes = |name: &str| status::number(&status, name).unwrap_or_default();
    kibibytes("RssAnon:").saturating_add(kibibytes("RssShmem:")).saturating_mul(1024)
}

/// How many files are on the mount that a process sees at that path.
fn entries_seen_by(pid: Pid, scratch: &Path) -> u64 {
    let path = format!("/proc/{}/root{}", pid.as_raw_pid(), scratch.display());
    // The scratch folder is a mount of its own only once bubblewrap has made it.
    match (statfs(&path), statvfs(&path)) {
        (Ok(kind), Ok(mount)) if i128::from(kind.f_type) == TMPFS => {
            mount.f_files.saturating_sub(mount.f_ffree)
        }
        _ => 0,
    }
}

/// What is below a folder. Nothing if that can't be told, because there is too much or the script hides it.
fn on_disk(folder: &Path) -> Option<u64> {
    let (mut bytes, mut entries) = (0_u64, 0);
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let listing = match fs::read_dir(&folder) {
            Ok(listing) => listing,
            // It was removed in the meantime.
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

/// Files that have no name any more but are still open: they take room too.
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
