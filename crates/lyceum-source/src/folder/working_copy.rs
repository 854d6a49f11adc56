//! The Git repository that a folder is a working copy of: its commit, as long as the files are those of the commit, and
//! its web links. Read in process; nothing is started and nothing is written.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use gix::{ObjectId, objs::tree::EntryKind};
use lyceum_model::RelPath;

use super::FolderFiles;
use crate::{FileMeta, MAX_FILES, file_links, stamp::Mark};

/// Maximum number of bytes to hash if Git's own index doesn't vouch for files, such as in a copy of a clone.
const MAX_HASHED_BYTES: u64 = 64 * 1024 * 1024;

/// A working copy.
struct WorkingCopy {
    repository: gix::Repository,
    /// Path of the folder in the repository; empty for its root.
    prefix: String,
}

/// What the index says about a tracked file.
struct IndexedFile {
    id: ObjectId,
    size: u32,
    /// Nanoseconds since 1970.
    modified: i64,
}

/// The files of a commit, and what Git's index knows about those in the folder.
pub(super) struct CommittedFiles {
    commit: ObjectId,
    tracked: HashMap<String, ObjectId>,
    indexed: HashMap<String, IndexedFile>,
    /// When the index was written, in nanoseconds since 1970.
    index_written: i64,
}

impl CommittedFiles {
    /// Reads the commit of `HEAD` and the index. `None` if the folder is not in a working copy.
    pub(super) fn read(root: &Path) -> Option<Self> {
        let copy = WorkingCopy::open(root)?;
        let commit = copy.repository.head_commit().ok()?;
        let tracked = copy.tracked_files(commit.tree_id().ok()?.detach())?;
        let (indexed, index_written) = copy.index().unwrap_or_default();
        Some(Self { commit: commit.id, tracked, indexed, index_written })
    }

    /// The commit, if all listed files are those of the commit, and none of its files was deleted.
    pub(super) fn clean_commit(
        &self,
        root: &Path,
        files: &BTreeMap<RelPath, FileMeta>,
        store: &FolderFiles,
    ) -> Option<String> {
        let mut hashed = 0;
        for (path, meta) in files {
            let real = store.found_through_links.get(path).map_or(path.as_str(), String::as_str);
            let id = *self.tracked.get(real)?;
            let Mark::File(mark) = &meta.stamp.0 else { return None };
            let is_indexed = self.indexed.get(real).is_some_and(|file| {
                // A file that changed after the index was written may have the same size and time ("racily clean").
                file.id == id
                    && u64::from(file.size) == meta.size
                    && file.modified == mark.modified()
                    && file.modified < self.index_written
            });
            if is_indexed {
                continue;
            }
            hashed += meta.size;
            if hashed > MAX_HASHED_BYTES {
                return None;
            }
            let bytes = store.read(path, MAX_HASHED_BYTES).ok()?;
            let found = gix::objs::compute_hash(id.kind(), gix::objs::Kind::Blob, &bytes).ok()?;
            if found != id {
                return None;
            }
        }
        let is_listed = |path: &str| files.contains_key(path);
        let is_deleted = |path: &String| !is_listed(path) && root.join(path).symlink_metadata().is_err();
        (!self.tracked.keys().any(is_deleted)).then(|| self.commit.to_string())
    }
}

/// URL template of the files of a folder in a clone, with `{commit}` and `{path}`, by the remote `origin`. `None` without
/// such a remote, or if its host is unknown. Blocks.
pub fn folder_links(root: &Path) -> Option<String> {
    let copy = WorkingCopy::open(root)?;
    let url = copy.repository.config_snapshot().string("remote.origin.url")?;
    let template = file_links(&url.to_string())?;
    match copy.prefix.as_str() {
        "" => Some(template),
        prefix => Some(template.replace("{path}", &format!("{}/{{path}}", crate::encode_path(prefix)))),
    }
}

impl WorkingCopy {
    /// Opens the repository that contains a folder.
    fn open(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let top: PathBuf = root.ancestors().find(|folder| folder.join(".git").exists())?.to_owned();
        // Only the repository's own configuration, and nothing in it can start a program.
        let options = gix::open::Options::isolated().with(gix::sec::Trust::Full);
        let repository = options.open(&top).ok()?.to_thread_local();
        let prefix = root.strip_prefix(&top).ok()?.to_str()?.to_owned();
        Some(Self { repository, prefix })
    }

    /// The files of a tree below the folder, relative to it. Symlinks and submodules are left out: their targets are
    /// tracked on their own.
    fn tracked_files(&self, tree: ObjectId) -> Option<HashMap<String, ObjectId>> {
        let mut tree = self.repository.find_tree(tree).ok()?;
        if !self.prefix.is_empty() {
            let below = tree.lookup_entry_by_path(&self.prefix).ok()??;
            tree = below.object().ok()?.try_into_tree().ok()?;
        }
        let mut files = HashMap::new();
        let mut folders = vec![(String::new(), tree.id)];
        while let Some((folder, id)) = folders.pop() {
            let tree = self.repository.find_tree(id).ok()?;
            for entry in tree.iter() {
                let entry = entry.ok()?.inner;
                // A name that is not UTF-8 is not listed either.
                let Ok(name) = std::str::from_utf8(entry.filename) else { continue };
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                match entry.mode.kind() {
                    EntryKind::Tree => folders.push((path, entry.oid.to_owned())),
                    EntryKind::Blob | EntryKind::BlobExecutable => {
                        files.insert(path, entry.oid.to_owned());
                    }
                    EntryKind::Link | EntryKind::Commit => {}
                }
                if files.len() + folders.len() > MAX_FILES {
                    return None;
                }
            }
        }
        Some(files)
    }

    /// The index below the folder, and when it was written, in nanoseconds since 1970.
    fn index(&self) -> Option<(HashMap<String, IndexedFile>, i64)> {
        let index = self.repository.open_index().ok()?;
        let written = index.timestamp();
        let written = nanoseconds(written.unix_seconds(), written.nanoseconds());
        let mut files = HashMap::with_capacity(index.entries().len());
        for entry in index.entries().iter().filter(|entry| entry.stage_raw() == 0) {
            let Ok(path) = std::str::from_utf8(entry.path(&index)) else { continue };
            let below = match self.prefix.as_str() {
                "" => Some(path),
                prefix => path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')),
            };
            let Some(path) = below else { continue };
            let modified = nanoseconds(entry.stat.mtime.secs.into(), entry.stat.mtime.nsecs);
            files.insert(path.to_owned(), IndexedFile { id: entry.id, size: entry.stat.size, modified });
        }
        Some((files, written))
    }
}

fn nanoseconds(seconds: i64, fraction: u32) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(fraction.into())
}
