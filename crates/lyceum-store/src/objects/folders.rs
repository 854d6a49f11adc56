//! The folders of a store on a disk: made so that they stay, and cleared of what a crash left.
//!
//! `object_store` makes folders too, and syncs those that it made itself. But of two writers of which the first
//! makes a folder, the second may be done before the first has synced it, and its object could be lost with the
//! folder. So they are made here, and no writer goes on before its folder is on the disk.

use std::{
    collections::HashSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use walkdir::{DirEntry, WalkDir};

/// How many folders are remembered to be on the disk; past that we start anew.
const MAX_KNOWN_FOLDERS: usize = 100_000;

/// How old an empty folder must be until nobody can be about to fill it.
const ABANDONED_AGE: Duration = Duration::from_secs(3600);

/// The folders below one root.
#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    /// Those that are known to be on the disk, from the root on.
    known: Mutex<HashSet<PathBuf>>,
}

impl Folders {
    /// Opens a root, which is made if it is not there.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let root = std::path::absolute(root)?;
        let there = root.ancestors().find(|folder| folder.exists()).unwrap_or(&root).to_owned();
        make(&root, &there)?;
        Ok(Self { root, known: Mutex::default() })
    }

    /// The root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Removes every half-written file, however young, and folders that long have no file.
    pub(super) fn clear_unfinished(&self) {
        clear(&self.root);
    }

    /// Whether a folder is known to be on the disk.
    pub(super) fn is_known(&self, folder: &Path) -> bool {
        folder == Path::new("") || self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(folder)
    }

    /// Makes a folder and those that it is in. When it returns, they are on the disk.
    pub(super) fn make(&self, folder: &Path) -> io::Result<()> {
        let known = folder.ancestors().find(|ancestor| self.is_known(ancestor)).unwrap_or(Path::new(""));
        make(&self.root.join(folder), &self.root.join(known))?;
        let made = folder.ancestors().take_while(|ancestor| *ancestor != known);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN_FOLDERS {
            known.clear();
        }
        known.extend(made.map(Path::to_owned));
        Ok(())
    }
}

/// Makes a folder, and syncs those that it is in, up to one that is known to be on the disk.
fn make(folder: &Path, known: &Path) -> io::Result<()> {
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

/// Puts the names in a folder on the disk, where the system knows how to.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes files that a crash left half-written, and folders that long have no file.
fn clear(root: &Path) {
    let now = SystemTime::now();
    for entry in WalkDir::new(root).min_depth(1).contents_first(true) {
        let cleared = match entry {
            Ok(entry) if entry.file_type().is_dir() && is_old(&entry, now) => remove_if_empty(entry.path()),
            Ok(entry) if is_half(&entry) => fs::remove_file(entry.path()),
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

/// Whether this is a file that `object_store` began to write: it calls them `name#1`, and no name of ours has a `#`
/// on the disk.
fn is_half(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.rsplit_once('#').is_some_and(|(_, number)| number.parse::<u64>().is_ok())
}

fn is_old(entry: &DirEntry, now: SystemTime) -> bool {
    let age = || now.duration_since(entry.metadata().ok()?.modified().ok()?).ok();
    age().is_some_and(|age| age > ABANDONED_AGE)
}
