//! What all processes of a run use together. The kernel limits each process; this looks at their sum.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{param::page_size, process::Pid};

use super::{namespaces::SCRATCH_ENTRIES, tree::descendants};
use crate::{Limits, Stopped};

/// What is looked at.
pub(super) struct Usage {
    memory: u64,
    /// Where the scratch folder is on disk, and not a mount of limited size.
    scratch: Option<(PathBuf, u64)>,
}

impl Usage {
    pub(super) fn of_memory(limits: &Limits) -> Self {
        Self { memory: limits.memory_bytes, scratch: None }
    }

    pub(super) fn of_memory_and(scratch: &Path, limits: &Limits) -> Self {
        Self { memory: limits.memory_bytes, scratch: Some((scratch.to_owned(), limits.scratch_bytes)) }
    }

    /// What is used up by the processes below this one, if anything is.
    pub(super) fn over(&self, root: Pid) -> Option<Stopped> {
        let pids = descendants(root);
        if pids.iter().map(|pid| memory(*pid)).sum::<u64>() > self.memory {
            return Some(Stopped::Memory);
        }
        let (scratch, most) = self.scratch.as_ref()?;
        let deleted = deleted_files(pids.iter().copied());
        let full = on_disk(scratch).is_none_or(|bytes| bytes.saturating_add(deleted) > *most);
        full.then_some(Stopped::Scratch)
    }
}

/// What a process uses of memory that it does not share with a file.
fn memory(pid: Pid) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_pid())).unwrap_or_default();
    let mut pages = text.split_whitespace().skip(1).map_while(|pages| pages.parse::<u64>().ok());
    let (resident, of_files) = (pages.next().unwrap_or_default(), pages.next().unwrap_or_default());
    resident.saturating_sub(of_files).saturating_mul(u64::try_from(page_size()).unwrap_or(4096))
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
