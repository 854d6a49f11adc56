//! The folder of a clone, and its atomic replacement.
//!
//! A new clone is created under a temporary sibling name, and renamed once it is complete and fsynced.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime},
};

use super::lock::Lock;
use crate::Error;

/// How long to wait for killed processes to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum nesting of branch names below `refs`.
const MAX_REF_DEPTH: usize = 16;

/// The folder of one clone, with its lock file.
pub(super) struct CloneDir {
    folder: PathBuf,
    lock: PathBuf,
}

/// Content of the folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Empty,
    Clone,
}

/// A folder that is deleted on drop, unless renamed.
pub(super) struct TempClone(PathBuf);

impl CloneDir {
    pub(super) fn new(folder: PathBuf) -> Self {
        let lock = with_suffix(&folder, ".lock");
        Self { folder, lock }
    }

    /// The clone folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lock file of the clone.
    pub(super) fn lock(&self) -> &Path {
        &self.lock
    }

    /// Inspects the folder. Fails if it contains anything but a clone, which we must not delete.
    pub(super) fn state(&self) -> Result<State, Error> {
        let mut entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Empty),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(Error::Occupied),
            entries => entries.map_err(Error::io("inspect the clone"))?,
        };
        if entries.next().is_none() {
            return Ok(State::Empty);
        }
        let is_clone = self.folder.join("objects").is_dir() && self.folder.join("HEAD").is_file();
        if is_clone { Ok(State::Clone) } else { Err(Error::Occupied) }
    }

    /// Pack index files of the clone.
    pub(super) fn packs(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.folder.join("objects/pack");
        let entries = fs::read_dir(folder).map_err(Error::io("list the packs"))?;
        let files = entries.flatten().map(|entry| entry.path());
        Ok(files.filter(|file| file.extension().is_some_and(|end| end == "idx")).collect())
    }

    /// A new temporary folder for a clone in progress.
    pub(super) fn temp_clone(&self) -> TempClone {
        TempClone(self.sibling("new"))
    }

    /// Moves a complete clone into place, and deletes the previous one.
    pub(super) fn install(&self, clone: &TempClone) -> Result<(), Error> {
        let doing = "move the clone into place";
        fsync_recursively(&clone.0).map_err(Error::io(doing))?;
        if self.state()? == State::Clone {
            let old = TempClone(self.sibling("old"));
            fs::rename(&self.folder, &old.0).map_err(Error::io(doing))?;
            fs::rename(&clone.0, &self.folder).map_err(Error::io(doing))?;
        } else {
            fs::rename(&clone.0, &self.folder).map_err(Error::io(doing))?;
        }
        let parent = self.folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))
            .and_then(|parent| parent.sync_all())
            .map_err(Error::io(doing))
    }

    /// Deletes what killed processes left behind: incomplete clones, and git's lock files in the clone, which would
    /// block it forever.
    pub(super) fn clean_up(&self, lock: &Lock, max_age: Duration) -> Result<(), Error> {
        let (Some(parent), Some(name)) = (self.folder.parent(), self.folder.file_name()) else {
            return Ok(());
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let ours = |other: &OsString| {
            let rest = other.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
            rest.is_some_and(|rest| rest.starts_with(b".new-") || rest.starts_with(b".old-"))
        };
        for entry in fs::read_dir(parent).map_err(Error::io("look for incomplete clones"))?.flatten() {
            if ours(&entry.file_name()) {
                remove(&entry.path());
            }
        }
        let stale_files = self.stale_files();
        let idle = !stale_files.is_empty() && holds_soon(|| lock.is_idle());
        for file in stale_files {
            if idle || age(&file).is_some_and(|age| age > max_age) {
                remove(&file);
            }
        }
        Ok(())
    }

    /// Git's lock files in the clone, and incomplete packs.
    fn stale_files(&self) -> Vec<PathBuf> {
        let is_lock = |name: &[u8]| name.ends_with(b".lock");
        let is_incomplete = |name: &[u8]| name.starts_with(b"tmp_");
        let mut found = Vec::new();
        collect(&self.folder, 0, &is_lock, &mut found);
        collect(&self.folder.join("refs"), MAX_REF_DEPTH, &is_lock, &mut found);
        collect(&self.folder.join("objects/pack"), 0, &is_incomplete, &mut found);
        found
    }

    fn sibling(&self, what: &str) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        with_suffix(&self.folder, &format!(".{what}-{}-{number}", std::process::id()))
    }
}

impl TempClone {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempClone {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn with_suffix(folder: &Path, suffix: &str) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

/// Waits briefly for a condition; returns whether it holds.
fn holds_soon(holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + EXIT_TIMEOUT;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn age(file: &Path) -> Option<Duration> {
    let changed = fs::metadata(file).and_then(|file| file.modified()).ok()?;
    SystemTime::now().duration_since(changed).ok()
}

/// Deletes a file or folder; failures are retried by the next clean-up.
fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::debug!(%error, path = %path.display(), "could not delete the remains of a clone");
    }
}

fn collect(folder: &Path, depth: usize, matches: &dyn Fn(&[u8]) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 {
            collect(&entry.path(), depth - 1, matches, found);
        } else if !is_folder && matches(entry.file_name().as_encoded_bytes()) {
            found.push(entry.path());
        }
    }
}

/// Fsyncs a folder and everything below it.
fn fsync_recursively(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fsync_recursively(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}
