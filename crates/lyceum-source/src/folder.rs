//! A folder of this machine as a source.

mod beneath;
mod chain;
mod exclusion;
mod ignore;
mod mark;
mod walk;

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
pub(crate) use exclusion::{is_closed, is_passed_over};
pub(crate) use mark::FileMark;

/// How much room is made for a file before any of it was read.
const MAX_PREALLOCATED_BYTES: u64 = 8 * 1024 * 1024;

/// A folder of this machine.
///
/// Links that stay inside it are followed; `.git` and `node_modules` are passed over. Hidden names, editors' back-ups
/// and what `.gitignore` files name are left out: a folder holds what nobody would commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Where it is.
    pub root: PathBuf,
}

/// What a snapshot needs to read files of a folder.
pub(crate) struct FolderFiles {
    root: OwnedFd,
    /// Files that were found through a link, and where they really are, from the root on.
    found_through_links: HashMap<RelPath, String>,
}

impl Folder {
    /// A folder at that path.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned() }
    }

    /// The files that are there now. Blocks.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let root = beneath::open_root(&self.root).map_err(|errno| Error::NoFolder(errno.into()))?;
        let found = walk::walk(&root, &self.root)?;
        let files = FolderFiles { root, found_through_links: found.through_links };
        Ok(Snapshot::of_folder(found.files, found.problems, files))
    }

    /// The files that are there now, where only those at or below some places may differ from a snapshot before.
    /// Blocks, far shorter than looking at everything.
    pub fn snapshot_after(&self, before: &Snapshot, places: &[PathBuf]) -> Result<Snapshot, Error> {
        let root = beneath::open_root(&self.root).map_err(|errno| Error::NoFolder(errno.into()))?;
        // With links, one place can show in another.
        let found =
            if before.has_links() { None } else { walk::walk_again(&root, &self.root, before, places)? };
        let Some(found) = found.filter(|found| found.through_links.is_empty()) else {
            return self.snapshot();
        };
        let files = FolderFiles { root, found_through_links: HashMap::new() };
        Ok(Snapshot::of_folder(found.files, found.problems, files))
    }
}

impl FolderFiles {
    /// Whether some file is listed elsewhere than it is.
    pub(crate) fn has_links(&self) -> bool {
        !self.found_through_links.is_empty()
    }

    /// Reads a file. No link is followed on the way, so that one which took a file's or a folder's place since the
    /// walk leads nowhere; the bytes are counted while reading, for a file can grow.
    pub(crate) fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, ReadError> {
        let real = self.found_through_links.get(path).map_or(path.as_str(), String::as_str);
        // A pipe that took the file's place must not hold up the reader.
        let file = beneath::open(&self.root, real, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
            .map_err(refusal)?;
        let stat = fstat(&file).map_err(std::io::Error::from)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ReadError::Missing);
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        if size > most {
            return Err(ReadError::TooLarge { size, most });
        }
        // The size is a claim: a file with holes may have any.
        let room = usize::try_from(size.min(MAX_PREALLOCATED_BYTES)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(room.saturating_add(1));
        File::from(file).take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > most { Err(ReadError::TooLarge { size, most }) } else { Ok(bytes) }
    }
}

/// What it means that a listed file can't be opened.
fn refusal(errno: Errno) -> ReadError {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::NXIO => ReadError::Missing,
        Errno::LOOP | Errno::XDEV => ReadError::Leaves,
        other => ReadError::Io(other.into()),
    }
}
