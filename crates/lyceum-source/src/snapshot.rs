//! An immutable listing of a source's files.
//!
//! Invariant: every path of `files` can be read through the snapshot, and nothing else can.

use std::{cmp::Ordering, collections::BTreeMap, fmt, sync::Arc};

use lyceum_model::RelPath;
use sha2::{Digest, Sha256};

use crate::{
    Problem, ReadError, Stamp, bundled::BundledFiles, folder::FolderFiles, repository::TreeFiles, stamp::Mark,
};

/// A snapshot of a source's files. Cheap to clone.
#[derive(Clone)]
pub struct Snapshot(Arc<Inner>);

struct Inner {
    files: BTreeMap<RelPath, FileMeta>,
    problems: Vec<Problem>,
    store: FileStore,
}

/// Where the contents are read from.
enum FileStore {
    Folder(FolderFiles),
    Tree(Box<TreeFiles>),
    Bundle(BundledFiles),
}

/// Metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMeta {
    /// Its size in bytes.
    pub size: u64,
    /// Content fingerprint.
    pub stamp: Stamp,
}

impl Snapshot {
    pub(crate) fn of_folder(
        files: BTreeMap<RelPath, FileMeta>,
        problems: Vec<Problem>,
        store: FolderFiles,
    ) -> Self {
        Self(Arc::new(Inner { files, problems, store: FileStore::Folder(store) }))
    }

    pub(crate) fn of_tree(
        files: BTreeMap<RelPath, FileMeta>,
        problems: Vec<Problem>,
        store: TreeFiles,
    ) -> Self {
        Self(Arc::new(Inner { files, problems, store: FileStore::Tree(Box::new(store)) }))
    }

    pub(crate) fn of_bundle(
        files: BTreeMap<RelPath, FileMeta>,
        problems: Vec<Problem>,
        store: BundledFiles,
    ) -> Self {
        Self(Arc::new(Inner { files, problems, store: FileStore::Bundle(store) }))
    }

    /// The commit, if the source is a Git repository that was fetched. A local clone has [`Snapshot::version`] only: its
    /// files are whatever is in the folder.
    pub fn commit(&self) -> Option<&str> {
        match &self.0.store {
            FileStore::Tree(tree) => Some(tree.commit()),
            FileStore::Folder(_) | FileStore::Bundle(_) => None,
        }
    }

    /// Version of the files: the commit, also for a clean working copy of one; for other sources `tree-` and 16 hex digits of a hash over all paths and
    /// contents (for a folder: sizes and modification times). Hashes over every file.
    pub fn version(&self) -> String {
        let commit = match &self.0.store {
            FileStore::Folder(folder) => folder.commit(),
            FileStore::Tree(tree) => Some(tree.commit()),
            FileStore::Bundle(_) => None,
        };
        if let Some(commit) = commit {
            return commit.to_owned();
        }
        let mut all = Sha256::new();
        for (path, file) in &self.0.files {
            // Paths contain no control characters, so the encoding is unambiguous.
            all.update(format!("{path}\0{}\n", file.stamp.version_key()));
        }
        let digits = const_hex::encode(all.finalize());
        format!("tree-{}", digits.get(..16).unwrap_or(&digits))
    }

    /// Whether some file was, or may have been, reached through a symlink.
    pub(crate) fn has_links(&self) -> bool {
        match &self.0.store {
            FileStore::Folder(folder) => folder.has_links(),
            FileStore::Tree(_) | FileStore::Bundle(_) => true,
        }
    }

    /// All readable files.
    pub fn files(&self) -> &BTreeMap<RelPath, FileMeta> {
        &self.0.files
    }

    /// Files and folders excluded from the snapshot.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// Reads a file of at most `max_bytes` bytes. Blocks.
    ///
    /// For Git repositories and bundled files, the content is that of the snapshot; for folders, the current one.
    pub fn read(&self, path: &RelPath, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.0.files.get(path).ok_or(ReadError::Missing)?;
        match (&self.0.store, &file.stamp.0) {
            (FileStore::Folder(folder), _) => folder.read(path, max_bytes),
            (FileStore::Tree(_) | FileStore::Bundle(_), _) if file.size > max_bytes => {
                Err(ReadError::TooLarge { size: file.size, most: max_bytes })
            }
            (FileStore::Bundle(bundle), _) => bundle.read(path),
            (FileStore::Tree(tree), Mark::Blob(id)) => tree.read(*id),
            (FileStore::Tree(_), Mark::File(_) | Mark::Bundled(_)) => Err(ReadError::Missing),
        }
    }

    /// Number of files added, removed or changed since another snapshot.
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
