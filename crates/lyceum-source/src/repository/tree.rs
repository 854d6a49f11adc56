//! Lists and reads the files of a commit, in process.

mod links;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use gix::{ObjectId, ThreadSafeRepository, objs::tree::EntryKind};
use lyceum_model::RelPath;

use crate::{
    Error, FileMeta, MAX_FILES, MAX_WALK_PATH_BYTES, Problem, ReadError, Reason, Snapshot, Stamp,
    folder::is_always_excluded, stamp::Mark,
};
use links::Links;

/// Config key of a clone for the URL it came from. Git's own `remote.origin.url` may be normalized.
pub(super) const ORIGIN_CONFIG_KEY: &str = "lyceum.url";

/// Maximum number of pooled readers; each has its own cache.
const MAX_IDLE_READERS: usize = 8;

/// Prefix and size range of a Git LFS pointer.
const LFS_POINTER_PREFIX: &[u8] = b"version https://git-lfs.github.com/spec/v1";
const LFS_POINTER_SIZES: std::ops::Range<u64> = 100..1024;

/// The commit that a branch points at.
pub(super) struct Head {
    store: ThreadSafeRepository,
    commit: ObjectId,
    origin_url: Option<String>,
}

/// Reads blobs of a commit, for a snapshot.
pub(crate) struct TreeFiles {
    commit: String,
    store: ThreadSafeRepository,
    idle: Mutex<Vec<gix::Repository>>,
}

impl Head {
    /// Finds the branch in a clone; `None` if the clone has no such branch.
    pub(super) fn find(folder: &Path, reference: &str) -> Result<Option<Self>, Error> {
        // Use only the clone's own configuration, and trust it: it is ours.
        let options = gix::open::Options::isolated().open_path_as_is(true).with(gix::sec::Trust::Full);
        let store = options.open(folder).map_err(damaged)?;
        let repository = store.to_thread_local();
        let origin_url = repository.config_snapshot().string(ORIGIN_CONFIG_KEY).map(|url| url.to_string());
        let Some(mut branch) = repository.try_find_reference(reference).map_err(damaged)? else {
            return Ok(None);
        };
        let commit = branch.peel_to_id().map_err(damaged)?.detach();
        Ok(Some(Self { store, commit, origin_url }))
    }

    /// The id of the commit.
    pub(super) fn commit(&self) -> String {
        self.commit.to_string()
    }

    /// The URL that the clone came from.
    pub(super) fn origin_url(&self) -> Option<&str> {
        self.origin_url.as_deref()
    }

    /// Lists the files of the commit, reusing unchanged entries of the previous snapshot.
    pub(super) fn list(self, previous: Option<&Snapshot>) -> Result<Snapshot, Error> {
        let repository = self.store.to_thread_local();
        let mut listing = Listing {
            repository: &repository,
            previous,
            files: Vec::new(),
            problems: Vec::new(),
            links: Links::default(),
        };
        listing.walk(self.commit)?;
        let (files, problems) = listing.finish()?;
        let tree_files =
            TreeFiles { commit: self.commit.to_string(), store: self.store, idle: Mutex::default() };
        Ok(Snapshot::of_tree(files, problems, tree_files))
    }
}

impl TreeFiles {
    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    pub(crate) fn read(&self, id: ObjectId) -> Result<Vec<u8>, ReadError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let reader = taken.unwrap_or_else(|| self.store.to_thread_local());
        let read = reader.find_object(id).map(|object| object.detach().data);
        let mut idle = idle();
        if idle.len() < MAX_IDLE_READERS {
            idle.push(reader);
        }
        read.map_err(|error| ReadError::Io(std::io::Error::other(error)))
    }
}

struct Listing<'a> {
    repository: &'a gix::Repository,
    previous: Option<&'a Snapshot>,
    files: Vec<(RelPath, FileMeta)>,
    problems: Vec<Problem>,
    links: Links,
}

impl Listing<'_> {
    fn walk(&mut self, commit: ObjectId) -> Result<(), Error> {
        let tree = self.repository.find_commit(commit).and_then(|commit| commit.tree()).map_err(damaged)?;
        let mut folders = vec![(Vec::new(), tree.id)];
        let mut seen = 0;
        while let Some((folder, id)) = folders.pop() {
            let tree = self.repository.find_tree(id).map_err(damaged)?;
            for entry in tree.iter() {
                let entry = entry.map_err(damaged)?.inner;
                if is_always_excluded(entry.filename) {
                    continue;
                }
                // A few tree objects can expand to more files than fit in memory.
                seen += 1;
                if seen > MAX_FILES {
                    return Err(Error::TooManyFiles { limit: MAX_FILES });
                }
                let (path, id) = (joined(&folder, entry.filename), entry.oid.to_owned());
                let kind = entry.mode.kind();
                // If a folder's path is invalid, each of its files is excluded and reported individually.
                if kind == EntryKind::Tree && path.len() <= MAX_WALK_PATH_BYTES {
                    folders.push((path, id));
                    continue;
                }
                let Some(path) = self.path(&path, kind) else { continue };
                match kind {
                    EntryKind::Tree => {}
                    EntryKind::Blob | EntryKind::BlobExecutable => self.file(path, id)?,
                    EntryKind::Link => self.link(path, id)?,
                    EntryKind::Commit => {
                        let path = path.as_str().as_bytes();
                        self.problems.push(Problem::of_folder(path, Reason::Submodule));
                    }
                }
            }
        }
        Ok(())
    }

    /// Parses the path of an entry; an invalid one is reported as a problem.
    fn path(&mut self, path: &[u8], kind: EntryKind) -> Option<RelPath> {
        let parsed = match std::str::from_utf8(path) {
            Ok(text) => RelPath::parse(text).map_err(Reason::NotAPath),
            Err(_) => Err(Reason::NotText),
        };
        let problem = match kind {
            EntryKind::Tree | EntryKind::Commit => Problem::of_folder,
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => Problem::of_file,
        };
        parsed.map_err(|reason| self.problems.push(problem(path, reason))).ok()
    }

    fn file(&mut self, path: RelPath, id: ObjectId) -> Result<(), Error> {
        let stamp = Stamp(Mark::Blob(id));
        let known = self.previous.and_then(|previous| previous.files().get(&path));
        if let Some(file) = known.filter(|file| file.stamp == stamp) {
            self.files.push((path, file.clone()));
            return Ok(());
        }
        let size = self.repository.find_header(id).map_err(damaged)?.size();
        if LFS_POINTER_SIZES.contains(&size) && self.data(id)?.starts_with(LFS_POINTER_PREFIX) {
            self.exclude(&path, Reason::LargeFileStorage);
        } else {
            self.files.push((path, FileMeta { size, stamp }));
        }
        Ok(())
    }

    fn link(&mut self, path: RelPath, id: ObjectId) -> Result<(), Error> {
        let size = self.repository.find_header(id).map_err(damaged)?.size();
        // A target longer than any path is broken.
        let target = if size > links::MAX_TARGET_BYTES { Vec::new() } else { self.data(id)? };
        self.links.add(path, target);
        Ok(())
    }

    fn data(&self, id: ObjectId) -> Result<Vec<u8>, Error> {
        Ok(self.repository.find_object(id).map_err(damaged)?.detach().data)
    }

    fn exclude(&mut self, path: &RelPath, reason: Reason) {
        self.problems.push(Problem::of_file(path.as_str().as_bytes(), reason));
    }

    /// Resolves the symlinks, now that all files are known.
    fn finish(mut self) -> Result<(BTreeMap<RelPath, FileMeta>, Vec<Problem>), Error> {
        let mut files: BTreeMap<_, _> = self.files.into_iter().collect();
        let resolved = self.links.resolve(&files);
        for (path, found) in resolved {
            match found {
                Ok(file) => drop(files.insert(path, file)),
                Err(reason) => self.problems.push(Problem::of_file(path.as_str().as_bytes(), reason)),
            }
        }
        self.problems.sort_by(|one, other| one.path.cmp(&other.path));
        Ok((files, self.problems))
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

pub(super) fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Damaged(error.into())
}
