//! Where a clone is kept, and how a new one gets there.
//!
//! A clone is made under another name beside its place and renamed when it is whole and on disk.

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

/// How long to wait for processes to go that were killed just now.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How many folders a branch's name is taken apart into at most.
const MAX_REF_DEPTH: usize = 16;

/// The place of one clone.
pub(super) struct CloneDir {
    folder: PathBuf,
    lock: PathBuf,
}

/// What is in the place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Empty,
    Clone,
}

/// A folder that is removed unless it is put in its place.
pub(super) struct Unfinished(PathBuf);

impl CloneDir {
    pub(super) fn new(folder: PathBuf) -> Self {
        let lock = beside(&folder, ".lock");
        Self { folder, lock }
    }

    /// The clone.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lock of whoever changes the clone.
    pub(super) fn lock(&self) -> &Path {
        &self.lock
    }

    /// What is there. Something that is no clone is nobody's to remove.
    pub(super) fn state(&self) -> Result<State, Error> {
        let mut entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Empty),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(Error::Occupied),
            entries => entries.map_err(Error::io("look at the clone"))?,
        };
        if entries.next().is_none() {
            return Ok(State::Empty);
        }
        let is_clone = self.folder.join("objects").is_dir() && self.folder.join("HEAD").is_file();
        if is_clone { Ok(State::Clone) } else { Err(Error::Occupied) }
    }

    /// The indexes of the clone's packs.
    pub(super) fn packs(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.folder.join("objects/pack");
        let entries = fs::read_dir(folder).map_err(Error::io("look at the packs"))?;
        let files = entries.flatten().map(|entry| entry.path());
        Ok(files.filter(|file| file.extension().is_some_and(|end| end == "idx")).collect())
    }

    /// A new name for a clone that is being made.
    pub(super) fn unfinished(&self) -> Unfinished {
        Unfinished(self.other("new"))
    }

    /// Puts a whole clone in its place, and removes what was there.
    pub(super) fn put(&self, made: &Unfinished) -> Result<(), Error> {
        let doing = "put the clone in its place";
        sync_below(&made.0).map_err(Error::io(doing))?;
        if self.state()? == State::Clone {
            let old = Unfinished(self.other("old"));
            fs::rename(&self.folder, &old.0).map_err(Error::io(doing))?;
            fs::rename(&made.0, &self.folder).map_err(Error::io(doing))?;
        } else {
            fs::rename(&made.0, &self.folder).map_err(Error::io(doing))?;
        }
        let above = self.folder.parent().filter(|above| !above.as_os_str().is_empty());
        File::open(above.unwrap_or(Path::new(".")))
            .and_then(|above| above.sync_all())
            .map_err(Error::io(doing))
    }

    /// Removes what processes left that were killed: clones that were never finished, and locks of `git` in the
    /// clone, which would stop it for good.
    pub(super) fn sweep(&self, lock: &Lock, oldest: Duration) -> Result<(), Error> {
        let (Some(above), Some(name)) = (self.folder.parent(), self.folder.file_name()) else {
            return Ok(());
        };
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let ours = |other: &OsString| {
            let rest = other.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
            rest.is_some_and(|rest| rest.starts_with(b".new-") || rest.starts_with(b".old-"))
        };
        for entry in fs::read_dir(above).map_err(Error::io("look for unfinished clones"))?.flatten() {
            if ours(&entry.file_name()) {
                remove(&entry.path());
            }
        }
        let leftovers = self.leftovers();
        let alone = !leftovers.is_empty() && is_soon(|| lock.is_left_alone());
        for file in leftovers {
            if alone || age(&file).is_some_and(|age| age > oldest) {
                remove(&file);
            }
        }
        Ok(())
    }

    /// Locks of `git` in the clone, and packs that were never finished.
    fn leftovers(&self) -> Vec<PathBuf> {
        let is_lock = |name: &[u8]| name.ends_with(b".lock");
        let is_unfinished = |name: &[u8]| name.starts_with(b"tmp_");
        let mut found = Vec::new();
        collect(&self.folder, 0, &is_lock, &mut found);
        collect(&self.folder.join("refs"), MAX_REF_DEPTH, &is_lock, &mut found);
        collect(&self.folder.join("objects/pack"), 0, &is_unfinished, &mut found);
        found
    }

    fn other(&self, what: &str) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        beside(&self.folder, &format!(".{what}-{}-{number}", std::process::id()))
    }
}

impl Unfinished {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// Whether something holds, now or within a moment.
fn is_soon(holds: impl Fn() -> bool) -> bool {
    let until = Instant::now() + EXIT_TIMEOUT;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn age(file: &Path) -> Option<Duration> {
    let changed = fs::metadata(file).and_then(|file| file.modified()).ok()?;
    SystemTime::now().duration_since(changed).ok()
}

/// Removes a file or folder; what can't be removed now is swept later.
fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = removed
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::debug!(%error, path = %path.display(), "could not delete the remains of a clone");
    }
}

fn collect(folder: &Path, depth: usize, wanted: &dyn Fn(&[u8]) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 {
            collect(&entry.path(), depth - 1, wanted, found);
        } else if !is_folder && wanted(entry.file_name().as_encoded_bytes()) {
            found.push(entry.path());
        }
    }
}

/// Syncs a folder and all below it to disk.
fn sync_below(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}
