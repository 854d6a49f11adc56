//! Watches a folder for changes.
//!
//! Only the paths of changes are reported: the consumer takes a new snapshot. So nothing has to be queued, and lost
//! events do no harm as long as the loss is reported.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use notify::{
    Config, ErrorKind, Event, EventKind, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode},
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use crate::{
    Error,
    folder::{is_always_excluded, is_excluded_folder},
    source::blocking,
};

/// Changes come in bursts; a burst ends after this long without a change.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// A burst is reported after this long even if it goes on.
const MAX_DEBOUNCE: Duration = Duration::from_millis(500);

/// Maximum number of tracked new folders; with more, the whole tree is rescanned.
const MAX_NEW_FOLDERS: usize = 1024;

/// On Linux each folder is watched separately, so excluded folders need no watch.
const WATCHES_EACH_FOLDER: bool = cfg!(target_os = "linux");

/// A change reported by a [`Watch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// Files or folders changed.
    Files,
    /// Events were lost, so anything may have changed.
    Lost,
    /// The folder itself was deleted or moved; the watch is dead. Watch it again once the folder is back.
    Gone,
}

/// Maximum number of tracked paths; with more, the whole folder is rescanned.
const MAX_PATHS: usize = 256;

/// A watched folder. Dropping it ends the watch.
pub struct Watch {
    root: PathBuf,
    /// Changed paths not fetched by the caller yet; `None` if not all are known.
    reported: Option<Vec<PathBuf>>,
    events: Arc<Events>,
    watcher: Arc<Mutex<RecommendedWatcher>>,
}

#[derive(Default)]
struct Events {
    pending: Mutex<PendingChanges>,
    notify: Notify,
}

/// Changes since the last report.
#[derive(Default)]
struct PendingChanges {
    changed: bool,
    lost: bool,
    gone: bool,
    new_folders: Vec<PathBuf>,
    /// Changed paths, relative to the root.
    paths: Vec<PathBuf>,
    /// Whether there were too many paths to track.
    overflow: bool,
}

/// Watches a folder recursively. Blocks while it lists the folders.
pub fn watch(root: &Path) -> Result<Watch, Error> {
    let root = fs::canonicalize(root).map_err(Error::folder)?;
    let events = Arc::new(Events::default());
    let (sink, folder) = (events.clone(), root.clone());
    // Without read events: a snapshot opens every folder and would trigger one for each.
    let config = Config::default().with_follow_symlinks(false).with_event_kinds(EventKindMask::CORE);
    let watcher =
        RecommendedWatcher::new(move |event| sink.handle(&folder, event), config).map_err(failed)?;
    let watch = Watch { root, reported: Some(Vec::new()), events, watcher: Arc::new(Mutex::new(watcher)) };
    watch_recursively(&watch.watcher, &watch.root)?;
    Ok(watch)
}

impl Watch {
    /// Waits until something changed and then nothing for a moment.
    ///
    /// Cancel-safe: a caller that drops the future and calls again misses nothing.
    pub async fn changed(&mut self) -> Change {
        while !self.events.pending().has_changes() {
            self.events.notify.notified().await;
        }
        let until = Instant::now() + MAX_DEBOUNCE;
        while Instant::now() < until && timeout(DEBOUNCE, self.events.notify.notified()).await.is_ok() {}

        let (new_folders, count) = self.events.pending().new_folders(&self.root);
        let added = self.add(new_folders).await;
        // No await from here on: pending changes are cleared only when they are reported.
        let mut pending = self.events.pending();
        let later = pending.new_folders.drain(..).skip(count).collect::<Vec<_>>();
        let next = PendingChanges {
            changed: !later.is_empty(),
            overflow: !later.is_empty(),
            new_folders: later,
            ..PendingChanges::default()
        };
        let pending = std::mem::replace(&mut *pending, next);
        if pending.gone || pending.lost || pending.overflow || added.is_err() {
            self.reported = None;
        } else if let Some(reported) = &mut self.reported {
            reported.extend(pending.paths);
            self.reported.take_if(|reported| reported.len() > MAX_PATHS);
        }
        match (pending.gone, pending.lost || added.is_err()) {
            (true, _) => Change::Gone,
            (false, true) => Change::Lost,
            (false, false) => Change::Files,
        }
    }

    /// Takes the paths changed since the last call, relative to the folder; `None` if unknown and a full rescan is
    /// needed.
    pub fn changed_paths(&mut self) -> Option<Vec<PathBuf>> {
        self.reported.replace(Vec::new())
    }

    /// Watches new folders, before their content is listed.
    async fn add(&self, folders: Vec<PathBuf>) -> Result<(), Error> {
        if folders.is_empty() || !WATCHES_EACH_FOLDER {
            return Ok(());
        }
        let root = self.root.clone();
        let watcher = self.watcher.clone();
        blocking("watch new folders", move || {
            // The root is never excluded by name: the operator chose it.
            let mut open = folders.iter().filter(|folder| **folder == root || !is_excluded_path(folder));
            open.try_for_each(|folder| watch_recursively(&watcher, folder))
        })
        .await
    }
}

impl Events {
    fn pending(&self) -> MutexGuard<'_, PendingChanges> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, root: &Path, event: notify::Result<Event>) {
        {
            let mut pending = self.pending();
            match event {
                Ok(event) if event.need_rescan() => pending.lost = true,
                Ok(event) if !is_relevant(root, &event) => return,
                Ok(event) => pending.record(root, event),
                Err(_) => pending.lost = true,
            }
        }
        self.notify.notify_one();
    }
}

impl PendingChanges {
    fn has_changes(&self) -> bool {
        self.changed || self.lost || self.gone
    }

    /// Folders to watch, and how many of the pending new folders they cover.
    fn new_folders(&self, root: &Path) -> (Vec<PathBuf>, usize) {
        let count = self.new_folders.len();
        let all = self.lost || count >= MAX_NEW_FOLDERS;
        (if all { vec![root.to_owned()] } else { self.new_folders.clone() }, count)
    }

    fn record(&mut self, root: &Path, event: Event) {
        self.changed = true;
        let is_away = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        );
        if is_away && event.paths.iter().any(|path| path == root) {
            self.gone = true;
        }
        for path in &event.paths {
            match path.strip_prefix(root) {
                Ok(path) if self.paths.last().is_some_and(|last| last == path) => {}
                Ok(path) if !path.as_os_str().is_empty() && self.paths.len() < MAX_PATHS => {
                    self.paths.push(path.to_owned());
                }
                _ => self.overflow = true,
            }
        }
        let may_be_folder = matches!(
            event.kind,
            EventKind::Create(CreateKind::Folder | CreateKind::Any)
                | EventKind::Modify(ModifyKind::Name(RenameMode::To))
        );
        if may_be_folder && self.new_folders.len() < MAX_NEW_FOLDERS {
            self.new_folders.extend(event.paths);
        }
    }
}

/// Whether an event is relevant: not a read, and not below an excluded folder.
fn is_relevant(root: &Path, event: &Event) -> bool {
    let is_read = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    };
    let is_outside = |path: &PathBuf| {
        let below = path.strip_prefix(root).unwrap_or(path);
        let mut folders = below.components().map(|part| part.as_os_str().as_encoded_bytes());
        let name = folders.next_back();
        folders.any(is_excluded_folder) || name.is_some_and(is_always_excluded)
    };
    let is_inside = event.paths.is_empty() || !event.paths.iter().all(is_outside);
    is_inside && !is_read
}

/// Watches a folder and its subfolders. Ignores those that vanish meanwhile.
fn watch_recursively(watcher: &Mutex<RecommendedWatcher>, folder: &Path) -> Result<(), Error> {
    let mut watcher = watcher.lock().unwrap_or_else(PoisonError::into_inner);
    if !WATCHES_EACH_FOLDER {
        return watcher.watch(folder, RecursiveMode::Recursive).map_err(failed);
    }
    let stack_root = folder;
    let mut stack = vec![folder.to_owned()];
    while let Some(folder) = stack.pop() {
        let is_real = fs::symlink_metadata(&folder).is_ok_and(|folder| folder.is_dir());
        if !is_real {
            continue;
        }
        match watcher.watch(&folder, RecursiveMode::NonRecursive) {
            Err(error) if is_gone(&error) => continue,
            // What can't be read is not served either; the others still are.
            Err(error) if is_denied(&error) && stack_root != folder => continue,
            watched => watched.map_err(failed)?,
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        stack.extend(folders.map(|entry| entry.path()).filter(|folder| !is_excluded_path(folder)));
    }
    Ok(())
}

fn is_gone(error: &notify::Error) -> bool {
    matches!(error.kind, ErrorKind::PathNotFound)
}

fn is_denied(error: &notify::Error) -> bool {
    matches!(&error.kind, ErrorKind::Io(error) if error.kind() == io::ErrorKind::PermissionDenied)
}

/// Whether a folder is excluded by its name.
fn is_excluded_path(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| is_excluded_folder(name.as_encoded_bytes()))
}

fn failed(error: notify::Error) -> Error {
    Error::Watch { limit: matches!(error.kind, ErrorKind::MaxFilesWatch), source: error.into() }
}

#[cfg(test)]
mod tests;
