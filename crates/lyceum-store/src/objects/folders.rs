//! Folders of a local object store: created durably, and cleaned up after a crash.
//!
//! `object_store` creates folders too, and syncs those that it created. But if two writers need a new folder, the
//! second may finish before the first has synced it, and would lose its object in a power failure. So folders are
//! created here, and no writer continues before its folder is on disk.

use std::{
    collections::HashSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use walkdir::{DirEntry, WalkDir};

/// Maximum number of folders remembered as durable; beyond that the set is cleared.
const MAX_KNOWN_FOLDERS: usize = 100_000;

/// Minimum age of an empty folder before deletion, so that no writer is about to use it.
const ABANDONED_AGE: Duration = Duration::from_secs(3600);

/// The folders below one root.
#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    /// Folders known to be on disk, relative to the root.
    known: Mutex<HashSet<PathBuf>>,
}

impl Folders {
    /// Opens a root folder, creating it if needed.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let root = std::path::absolute(root)?;
        let existing = root.ancestors().find(|folder| folder.exists()).unwrap_or(&root).to_owned();
        create(&root, &existing)?;
        Ok(Self { root, known: Mutex::default() })
    }

    /// The root folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Deletes all temporary files, and folders that have been empty for a while.
    pub(super) fn clear_unfinished(&self) {
        clear(&self.root);
    }

    /// Whether a folder is known to be on the disk.
    pub(super) fn is_known(&self, folder: &Path) -> bool {
        folder == Path::new("") || self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(folder)
    }

    /// Creates a folder with its parents. When this returns, they are on disk.
    pub(super) fn create(&self, folder: &Path) -> io::Result<()> {
        let known = folder.ancestors().find(|ancestor| self.is_known(ancestor)).unwrap_or(Path::new(""));
        create(&self.root.join(folder), &self.root.join(known))?;
        let made = folder.ancestors().take_while(|ancestor| *ancestor != known);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN_FOLDERS {
            known.clear();
        }
        known.extend(made.map(Path::to_owned));
        Ok(())
    }
}

/// Creates a folder, and syncs its parents up to one known to be on disk.
fn create(folder: &Path, known: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if folder == known {
        return Ok(());
    }
    for parent in folder.ancestors().skip(1) {
        sync(parent)?;
        if parent == known {
            break;
        }
    }
    Ok(())
}

/// Syncs a directory, on Unix.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Deletes temporary files, and folders that have been empty for a while.
fn clear(root: &Path) {
    let now = SystemTime::now();
    for entry in WalkDir::new(root).min_depth(1).contents_first(true) {
        let cleared = match entry {
            Ok(entry) if entry.file_type().is_dir() && is_old(&entry, now) => remove_if_empty(entry.path()),
            Ok(entry) if is_temporary(&entry) => fs::remove_file(entry.path()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = cleared {
            tracing::warn!(%error, "could not delete temporary files of an earlier run from the object folder");
        }
    }
}

fn remove_if_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// Whether a file is a temporary file of `object_store`, named `name#1`. Our own names contain no `#` on disk.
fn is_temporary(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.rsplit_once('#').is_some_and(|(_, number)| number.parse::<u64>().is_ok())
}

fn is_old(entry: &DirEntry, now: SystemTime) -> bool {
    let age = || now.duration_since(entry.metadata().ok()?.modified().ok()?).ok();
    age().is_some_and(|age| age > ABANDONED_AGE)
}
