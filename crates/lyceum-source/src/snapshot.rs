//! The files of a source at one moment.
//!
//! Invariant: every path of `files` can be read through the snapshot, and nothing else can.

use std::{cmp::Ordering, collections::BTreeMap, fmt, sync::Arc};

use lyceum_model::RelPath;
use sha2::{Digest, Sha256};

use crate::{
    Problem, ReadError, Stamp, bundled::BundledFiles, folder::FolderFiles, repository::TreeFiles, stamp::Mark,
};

/// The files of a source at one moment; cheap to clone.
#[derive(Clone)]
pub struct Snapshot(Arc<Inner>);

struct Inner {
    files: BTreeMap<RelPath, FileMeta>,
    problems: Vec<Problem>,
    place: FileStore,
}

/// Where the bytes are.
enum FileStore {
    Folder(FolderFiles),
    Tree(Box<TreeFiles>),
    Bundle(BundledFiles),
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMeta {
    /// Its size in bytes.
    pub size: u64,
    /// Stands for its content.
    pub stamp: Stamp,
}

impl Snapshot {
    pub(crate) fn of_folder(
        files: BTreeMap<RelPath, FileMeta>,
        problems: Vec<Problem>,
        place: FolderFiles,
    ) -> Self {
        Self(Arc::new(Inner { files, problems, place: FileStore::Folder(place) }))
    }

    pub(crate) fn of_tree(
        files: BTreeMap<RelPath, FileMeta>,
        problems: Vec<Problem>,
        place: TreeFiles,
    ) -> Self {
        Self(Arc::new(Inner { files, problems, place: FileStore::Tree(Box::new(place)) }))
    }

    pub(crate) fn of_bundle(
        files: BTreeMap<RelPath, FileMeta>,
        problems: Vec<Problem>,
        place: BundledFiles,
    ) -> Self {
        Self(Arc::new(Inner { files, problems, place: FileStore::Bundle(place) }))
    }

    /// The commit, where the source is a Git repository.
    pub fn commit(&self) -> Option<&str> {
        match &self.0.place {
            FileStore::Tree(tree) => Some(tree.commit()),
            FileStore::Folder(_) | FileStore::Bundle(_) => None,
        }
    }

    /// A name for just these files: the commit; elsewhere `tree-` and 16 hex digits that stand for every path and its
    /// content, which in a folder means its size and the time it was changed. Looks at every file.
    pub fn version(&self) -> String {
        if let Some(commit) = self.commit() {
            return commit.to_owned();
        }
        let mut all = Sha256::new();
        for (path, file) in &self.0.files {
            // No path has a control character, so that nothing of one file can pass for something of another.
            all.update(format!("{path}\0{}\n", file.stamp.seen_by_version()));
        }
        let digits = const_hex::encode(all.finalize());
        format!("tree-{}", digits.get(..16).unwrap_or(&digits))
    }

    /// Whether some file is listed elsewhere than it is, or may be.
    pub(crate) fn has_links(&self) -> bool {
        match &self.0.place {
            FileStore::Folder(folder) => folder.has_links(),
            FileStore::Tree(_) | FileStore::Bundle(_) => true,
        }
    }

    /// Every file that can be read.
    pub fn files(&self) -> &BTreeMap<RelPath, FileMeta> {
        &self.0.files
    }

    /// What the source holds and the snapshot could not take.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// Reads a file of at most so many bytes. Blocks.
    ///
    /// A Git repository gives the bytes of the commit, the program its own; a folder gives what the file holds by now.
    pub fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.0.files.get(path).ok_or(ReadError::Missing)?;
        match (&self.0.place, &file.stamp.0) {
            (FileStore::Folder(folder), _) => folder.read(path, most),
            (FileStore::Tree(_) | FileStore::Bundle(_), _) if file.size > most => {
                Err(ReadError::TooLarge { size: file.size, most })
            }
            (FileStore::Bundle(bundle), _) => bundle.read(path),
            (FileStore::Tree(tree), Mark::Blob(id)) => tree.read(*id),
            (FileStore::Tree(_), Mark::File(_) | Mark::Bundled(_)) => Err(ReadError::Missing),
        }
    }

    /// How many files were added, removed or changed since another snapshot.
    pub fn changed_since(&self, before: &Self) -> usize {
        if Arc::ptr_eq(&self.0, &before.0) {
            return 0;
        }
        let (mut old, mut new) = (before.0.files.iter().peekable(), self.0.files.iter().peekable());
        let mut changed = 0;
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return changed,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((old, _)), Some((new, _))) => old.cmp(new),
            };
            let was = if order.is_le() { old.next() } else { None };
            let is = if order.is_ge() { new.next() } else { None };
            if was.map(|(_, file)| file) != is.map(|(_, file)| file) {
                changed += 1;
            }
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("commit", &self.commit())
            .field("files", &self.0.files.len())
            .field("problems", &self.0.problems)
            .finish_non_exhaustive()
    }
}
