//! A local folder as a source.

mod beneath;
mod chain;
mod exclusion;
mod ignore;
mod mark;
mod walk;
mod working_copy;

use std::{
    collections::HashMap,
    fs::File,
    io::Read,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use lyceum_model::RelPath;
use rustix::{
    fs::{FileType, OFlags, fstat},
    io::Errno,
};

use crate::{Error, ReadError, Snapshot};
pub(crate) use exclusion::{is_always_excluded, is_excluded_folder};
pub(crate) use mark::FileMark;
use walk::WalkResult;
use working_copy::CommittedFiles;
pub use working_copy::folder_links;

/// Maximum buffer size allocated before reading a file.
const MAX_PREALLOCATED_BYTES: u64 = 8 * 1024 * 1024;

/// A local folder.
///
/// Symlinks that stay inside it are followed. `.git`, `node_modules`, hidden files, editor backups and files matched by
/// `.gitignore` are excluded, since a working folder holds files that nobody would commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Path of the folder.
    pub root: PathBuf,
}

/// Opens files of a folder, for reading through a snapshot.
pub(crate) struct FolderFiles {
    root: OwnedFd,
    /// Files reached through a symlink, with their real path relative to the root.
    found_through_links: HashMap<RelPath, String>,
    /// The commit that all files are of, in a clean working copy.
    commit: Option<String>,
}

impl Folder {
    /// Creates a source for the folder at `root`.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned() }
    }

    /// Lists the current files. Blocks.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let root = self.open()?;
        // Reading the commit of a large repository takes as long as listing its files.
        let (found, committed) = std::thread::scope(|scope| {
            let committed = scope.spawn(|| CommittedFiles::read(&self.root));
            (walk::walk(&root, &self.root), committed.join().ok().flatten())
        });
        Ok(self.listed(root, found?, committed.as_ref()))
    }

    /// Lists the current files without looking up their commit. Blocks.
    pub fn snapshot_without_commit(&self) -> Result<Snapshot, Error> {
        let root = self.open()?;
        let found = walk::walk(&root, &self.root)?;
        Ok(self.listed(root, found, None))
    }

    /// Lists the current files incrementally: rescans only `paths` and reuses `before` for the rest. Blocks, but far
    /// shorter than a full scan.
    pub fn snapshot_after(&self, before: &Snapshot, paths: &[PathBuf]) -> Result<Snapshot, Error> {
        let root = self.open()?;
        // With symlinks, a change at one path can show up at another.
        let found =
            if before.has_links() { None } else { walk::walk_paths(&root, &self.root, before, paths)? };
        let Some(found) = found.filter(|found| found.through_links.is_empty()) else {
            return self.snapshot();
        };
        Ok(self.listed(root, found, CommittedFiles::read(&self.root).as_ref()))
    }

    fn open(&self) -> Result<OwnedFd, Error> {
        beneath::open_root(&self.root).map_err(|errno| Error::folder(errno.into()))
    }

    /// The snapshot of a walk.
    fn listed(&self, root: OwnedFd, found: WalkResult, committed: Option<&CommittedFiles>) -> Snapshot {
        let WalkResult { files, problems, through_links } = found;
        let mut store = FolderFiles { root, found_through_links: through_links, commit: None };
        store.commit = committed.and_then(|committed| committed.clean_commit(&self.root, &files, &store));
        Snapshot::of_folder(files, problems, store)
    }
}

impl FolderFiles {
    /// The commit that all files are of, in a clean working copy.
    pub(crate) fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// Whether some file was reached through a symlink.
    pub(crate) fn has_links(&self) -> bool {
        !self.found_through_links.is_empty()
    }

    /// Reads a file. Follows no symlinks, so one that replaced a file or folder since the walk can't escape. Enforces
    /// the limit while reading, since a file can grow.
    pub(crate) fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, ReadError> {
        let real = self.found_through_links.get(path).map_or(path.as_str(), String::as_str);
        // Don't block on a pipe that replaced the file.
        let file = beneath::open(&self.root, real, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
            .map_err(open_error)?;
        let stat = fstat(&file).map_err(std::io::Error::from)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ReadError::Missing);
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        if size > most {
            return Err(ReadError::TooLarge { size, most });
        }
        // Don't trust the size: a sparse file can claim any.
        let capacity = usize::try_from(size.min(MAX_PREALLOCATED_BYTES)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(capacity.saturating_add(1));
        File::from(file).take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > most { Err(ReadError::TooLarge { size, most }) } else { Ok(bytes) }
    }
}

/// Maps an error of opening a listed file.
fn open_error(errno: Errno) -> ReadError {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::NXIO => ReadError::Missing,
        Errno::LOOP | Errno::XDEV => ReadError::Leaves,
        other => ReadError::Io(other.into()),
    }
}
