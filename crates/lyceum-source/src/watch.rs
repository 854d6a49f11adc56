//! News that something below a folder changed.
//!
//! What changed is not told: whoever hears it takes a new snapshot. So nothing has to be queued, and losing news is
//! no harm as long as it is known.

use std::{
    fs,
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
    folder::{is_closed, is_passed_over},
    source::blocking,
};

/// Changes come in bursts: this long without one ends a burst.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// A burst is reported after this long even if it goes on.
const MAX_DEBOUNCE: Duration = Duration::from_millis(500);

/// How many new folders are remembered; with more of them the whole tree is looked through.
const MAX_NEW_FOLDERS: usize = 1024;

/// Linux watches folders one by one, so that those which are passed over need not be watched.
const WATCHES_EACH_FOLDER: bool = cfg!(target_os = "linux");

/// What happened below a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// Files or folders changed.
    Files,
    /// News was lost, so something may have changed.
    Lost,
    /// The folder itself is gone or moved; nothing more will be heard of it. Watch it again once it is back.
    Gone,
}

/// How many places are remembered; with more of them the whole folder is looked through.
const MAX_PATHS: usize = 256;

/// A folder that is being watched. Dropping it ends that.
pub struct Watch {
    root: PathBuf,
    /// Where something was reported and not asked for yet; nothing where not all of it is known.
    reported: Option<Vec<PathBuf>>,
    news: Arc<Events>,
    watcher: Arc<Mutex<RecommendedWatcher>>,
}

#[derive(Default)]
struct Events {
    pending: Mutex<PendingChanges>,
    bell: Notify,
}

/// What was heard since the last report.
#[derive(Default)]
struct PendingChanges {
    something: bool,
    lost: bool,
    gone: bool,
    new_folders: Vec<PathBuf>,
    /// Where, from the root on.
    places: Vec<PathBuf>,
    /// Whether there were too many places to remember.
    everywhere: bool,
}

/// Watches a folder and all below it. Blocks for as long as it takes to look through the folders.
pub fn watch(root: &Path) -> Result<Watch, Error> {
    let root = fs::canonicalize(root).map_err(Error::NoFolder)?;
    let news = Arc::new(Events::default());
    let (sink, place) = (news.clone(), root.clone());
    // Not what is only read: a snapshot opens every folder, and would hear of each one.
    let config = Config::default().with_follow_symlinks(false).with_event_kinds(EventKindMask::CORE);
    let watcher = RecommendedWatcher::new(move |event| sink.hear(&place, event), config).map_err(failed)?;
    let watch = Watch { root, reported: Some(Vec::new()), news, watcher: Arc::new(Mutex::new(watcher)) };
    add_below(&watch.watcher, &watch.root)?;
    Ok(watch)
}

impl Watch {
    /// Waits until something changed and then was quiet for a moment.
    ///
    /// Nothing is missed by a caller that drops the future and calls again.
    pub async fn changed(&mut self) -> Change {
        while !self.news.pending().is_news() {
            self.news.bell.notified().await;
        }
        let until = Instant::now() + MAX_DEBOUNCE;
        while Instant::now() < until && timeout(DEBOUNCE, self.news.bell.notified()).await.is_ok() {}

        let (new_folders, count) = self.news.pending().new_folders(&self.root);
        let added = self.add(new_folders).await;
        // From here on nothing waits: what was heard is forgotten only when it is reported.
        let mut pending = self.news.pending();
        let later = pending.new_folders.drain(..).skip(count).collect::<Vec<_>>();
        let next = PendingChanges {
            something: !later.is_empty(),
            everywhere: !later.is_empty(),
            new_folders: later,
            ..PendingChanges::default()
        };
        let pending = std::mem::replace(&mut *pending, next);
        if pending.gone || pending.lost || pending.everywhere || added.is_err() {
            self.reported = None;
        } else if let Some(reported) = &mut self.reported {
            reported.extend(pending.places);
            self.reported.take_if(|reported| reported.len() > MAX_PATHS);
        }
        match (pending.gone, pending.lost || added.is_err()) {
            (true, _) => Change::Gone,
            (false, true) => Change::Lost,
            (false, false) => Change::Files,
        }
    }

    /// Where something changed, from the folder on, of all that was reported since this was last asked; nothing where
    /// that is not known, and everything has to be looked at.
    pub fn places(&mut self) -> Option<Vec<PathBuf>> {
        self.reported.replace(Vec::new())
    }

    /// Watches new folders, before their content is looked at.
    async fn add(&self, folders: Vec<PathBuf>) -> Result<(), Error> {
        if folders.is_empty() || !WATCHES_EACH_FOLDER {
            return Ok(());
        }
        let root = self.root.clone();
        let watcher = self.watcher.clone();
        blocking("watch new folders", move || {
            // Whatever the root is called, somebody chose it.
            let mut open = folders.iter().filter(|folder| **folder == root || !is_closed_folder(folder));
            open.try_for_each(|folder| add_below(&watcher, folder))
        })
        .await
    }
}

impl Events {
    fn pending(&self) -> MutexGuard<'_, PendingChanges> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, root: &Path, event: notify::Result<Event>) {
        {
            let mut pending = self.pending();
            match event {
                Ok(event) if event.need_rescan() => pending.lost = true,
                Ok(event) if !matters(root, &event) => return,
                Ok(event) => pending.take(root, event),
                Err(_) => pending.lost = true,
            }
        }
        self.bell.notify_one();
    }
}

impl PendingChanges {
    fn is_news(&self) -> bool {
        self.something || self.lost || self.gone
    }

    /// Where to look for folders that are not watched yet, and how many of those that were heard of that covers.
    fn new_folders(&self, root: &Path) -> (Vec<PathBuf>, usize) {
        let count = self.new_folders.len();
        let all = self.lost || count >= MAX_NEW_FOLDERS;
        (if all { vec![root.to_owned()] } else { self.new_folders.clone() }, count)
    }

    fn take(&mut self, root: &Path, event: Event) {
        self.something = true;
        let is_away = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        );
        if is_away && event.paths.iter().any(|path| path == root) {
            self.gone = true;
        }
        for path in &event.paths {
            match path.strip_prefix(root) {
                Ok(place) if self.places.last().is_some_and(|last| last == place) => {}
                Ok(place) if !place.as_os_str().is_empty() && self.places.len() < MAX_PATHS => {
                    self.places.push(place.to_owned());
                }
                _ => self.everywhere = true,
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

/// Reading changes nothing, and what is passed over by a snapshot is no news.
fn matters(root: &Path, event: &Event) -> bool {
    let is_read = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    };
    let is_outside = |path: &PathBuf| {
        let below = path.strip_prefix(root).unwrap_or(path);
        let mut folders = below.components().map(|part| part.as_os_str().as_encoded_bytes());
        let name = folders.next_back();
        folders.any(is_closed) || name.is_some_and(is_passed_over)
    };
    let is_inside = event.paths.is_empty() || !event.paths.iter().all(is_outside);
    is_inside && !is_read
}

/// Watches a folder and those below it. One that vanishes meanwhile is no matter.
fn add_below(watcher: &Mutex<RecommendedWatcher>, folder: &Path) -> Result<(), Error> {
    let mut watcher = watcher.lock().unwrap_or_else(PoisonError::into_inner);
    if !WATCHES_EACH_FOLDER {
        return watcher.watch(folder, RecursiveMode::Recursive).map_err(failed);
    }
    let mut ahead = vec![folder.to_owned()];
    while let Some(folder) = ahead.pop() {
        let is_real = fs::symlink_metadata(&folder).is_ok_and(|folder| folder.is_dir());
        if !is_real {
            continue;
        }
        match watcher.watch(&folder, RecursiveMode::NonRecursive) {
            Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => continue,
            watched => watched.map_err(failed)?,
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        ahead.extend(folders.map(|entry| entry.path()).filter(|folder| !is_closed_folder(folder)));
    }
    Ok(())
}

/// Whether nothing below a folder is a part of a source, by its name.
fn is_closed_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| is_closed(name.as_encoded_bytes()))
}

fn failed(error: notify::Error) -> Error {
    Error::Watch { limit: matches!(error.kind, ErrorKind::MaxFilesWatch), source: error.into() }
}
