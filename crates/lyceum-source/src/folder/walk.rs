//! Everything below a folder.
//!
//! A link is resolved once, and what it leads to is remembered under its real path: nothing is ever opened through
//! a link. Entries that vanish on the way are passed over.

mod links;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::{CStr, CString},
    io,
    ops::Bound,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::SystemTime,
};

use lyceum_model::RelPath;
use rustix::{
    fs::{AtFlags, Dir, FileType, OFlags, Stat, statat},
    io::Errno,
};

use super::{
    beneath,
    chain::Chain,
    exclusion::{Kind, Verdict, by_name, is_passed_over},
    ignore::{self, Rules},
    mark::FileMark,
};
use crate::{Error, FileMeta, MAX_FILES, MAX_WALK_PATH_BYTES, Problem, Reason, Snapshot, Stamp, stamp::Mark};

/// How many folders are visited for each file that a source may have, empty ones and those found twice included.
const MAX_FOLDERS: usize = MAX_FILES;

/// How many folders must be ahead for them to be shared out to all cores.
const MIN_PARALLEL_FOLDERS: usize = 64;

/// What a walk found.
pub(super) struct WalkResult {
    pub(super) files: BTreeMap<RelPath, FileMeta>,
    pub(super) problems: Vec<Problem>,
    pub(super) through_links: HashMap<RelPath, String>,
}

/// A folder on the way.
struct PendingFolder {
    /// Its path as it is listed; empty for the root.
    listed: String,
    /// Its path without links; empty for the root.
    real: String,
    /// The real paths of the folders above it in the listing, where one was entered through a link.
    above: Option<Arc<Chain>>,
    /// What the `.gitignore` files above it name.
    rules: Option<Arc<Rules>>,
}

/// What the `.gitignore` files name in a folder, or why the folder is left out.
type FolderRules = Result<Option<Arc<Rules>>, Reason>;

struct Walk<'a> {
    root: &'a OwnedFd,
    root_path: &'a Path,
    /// The root without links; known once a link was met.
    real_root: Option<PathBuf>,
    /// What the `.gitignore` files above the root name.
    rules_above: Option<Arc<Rules>>,
    /// What they name in folders that were reached other than from the one above.
    known_rules: HashMap<String, FolderRules>,
    now: i64,
    stops: Vec<PendingFolder>,
    /// How many folders were visited by all who share in the walk.
    folders: Arc<AtomicUsize>,
    files: Vec<(RelPath, FileMeta)>,
    problems: Vec<Problem>,
    through_links: HashMap<RelPath, String>,
}

/// Lists everything below the root, which was opened at that path, on all cores.
pub(super) fn walk(root: &OwnedFd, root_path: &Path) -> Result<WalkResult, Error> {
    let mut walk = Walk::new(root, root_path, Rules::above_root(root_path));
    let rules = walk.rules_above.clone();
    walk.stops.push(PendingFolder { listed: String::new(), real: String::new(), above: None, rules });
    while walk.stops.len() < MIN_PARALLEL_FOLDERS
        && let Some(stop) = walk.stops.pop()
    {
        walk.visit(&stop)?;
    }
    if !walk.stops.is_empty() {
        walk.visit_shared()?;
    }
    Ok(walk.into_result(BTreeMap::new(), Vec::new()))
}

/// Lists again what is at or below some places, and takes the rest from a snapshot without links. Nothing where that
/// can't be done.
pub(super) fn walk_again(
    root: &OwnedFd,
    root_path: &Path,
    before: &Snapshot,
    places: &[PathBuf],
) -> Result<Option<WalkResult>, Error> {
    let mut walk = Walk::new(root, root_path, Rules::above_root(root_path));
    let (mut files, mut problems) = (before.files().clone(), before.problems().to_vec());
    let places: Option<BTreeSet<&str>> = places.iter().map(|place| place.to_str()).collect();
    let Some(mut places) = places else { return Ok(None) };
    // Other rules may leave out other files, wherever they are.
    if places.iter().any(|place| place.rsplit('/').next() == Some(ignore::NAME)) {
        return Ok(None);
    }
    places.retain(|place| !place.split('/').any(|part| is_passed_over(part.as_bytes())));
    for place in places {
        let gone: Vec<RelPath> = files
            .range::<str, _>((Bound::Included(place), Bound::Unbounded))
            .map(|(path, _)| path)
            .take_while(|path| path.as_str().starts_with(place))
            .filter(|path| is_at(path.as_str(), place))
            .cloned()
            .collect();
        for path in &gone {
            files.remove(path);
        }
        problems.retain(|problem| !is_at(&problem.path, place));
        let (folder, name) = place.rsplit_once('/').unwrap_or(("", place));
        let opened = beneath::open(
            root,
            if folder.is_empty() { "." } else { folder },
            OFlags::RDONLY | OFlags::DIRECTORY,
        );
        match (opened, CString::new(name)) {
            (Ok(at), Ok(name)) => {
                // Nothing below a folder that is left out is looked at.
                let Ok(rules) = walk.rules_of(folder) else { continue };
                let stop = PendingFolder {
                    listed: folder.to_owned(),
                    real: folder.to_owned(),
                    above: None,
                    rules: None,
                };
                walk.entry(&stop, rules.as_ref(), at.as_fd(), &name, FileType::Unknown);
            }
            (Err(Errno::NOENT), _) => {}
            _ => return Ok(None),
        }
    }
    walk.visit_all()?;
    if files.len() + walk.files.len() + problems.len() + walk.problems.len() > MAX_FILES {
        return Err(Error::TooManyFiles { most: MAX_FILES });
    }
    Ok(Some(walk.into_result(files, problems)))
}

/// Whether a path is that place or below it.
fn is_at(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl<'a> Walk<'a> {
    fn new(root: &'a OwnedFd, root_path: &'a Path, rules_above: Option<Arc<Rules>>) -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            root,
            root_path,
            real_root: None,
            rules_above,
            known_rules: HashMap::new(),
            now: i64::try_from(since_1970.as_nanos()).unwrap_or_default(),
            stops: Vec::new(),
            folders: Arc::default(),
            files: Vec::new(),
            problems: Vec::new(),
            through_links: HashMap::new(),
        }
    }

    fn visit_all(&mut self) -> Result<(), Error> {
        while let Some(stop) = self.stops.pop() {
            self.visit(&stop)?;
        }
        Ok(())
    }

    /// Visits what is left, shared out to all cores.
    fn visit_shared(&mut self) -> Result<(), Error> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut shares: Vec<Self> = Vec::new();
        let share = || {
            let share = Self::new(self.root, self.root_path, self.rules_above.clone());
            Self { folders: self.folders.clone(), ..share }
        };
        shares.resize_with(cores, share);
        for (number, stop) in std::mem::take(&mut self.stops).into_iter().enumerate() {
            if let Some(share) = shares.get_mut(number % cores) {
                share.stops.push(stop);
            }
        }
        let done: Vec<Result<Self, Error>> = thread::scope(|scope| {
            let visit = |mut share: Self| share.visit_all().map(|()| share);
            let threads: Vec<_> = shares.into_iter().map(|share| scope.spawn(move || visit(share))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        for share in done {
            let share = share?;
            self.files.extend(share.files);
            self.problems.extend(share.problems);
            self.through_links.extend(share.through_links);
        }
        if self.files.len() + self.problems.len() > MAX_FILES {
            return Err(Error::TooManyFiles { most: MAX_FILES });
        }
        Ok(())
    }

    /// What was found, added to what else there is.
    fn into_result(self, mut files: BTreeMap<RelPath, FileMeta>, mut problems: Vec<Problem>) -> WalkResult {
        if files.is_empty() {
            files = self.files.into_iter().collect();
        } else {
            files.extend(self.files);
        }
        problems.extend(self.problems);
        problems.sort_by(|one, other| one.path.cmp(&other.path));
        problems.dedup();
        WalkResult { files, problems, through_links: self.through_links }
    }

    fn visit(&mut self, stop: &PendingFolder) -> Result<(), Error> {
        let folders = self.folders.fetch_add(1, Ordering::Relaxed);
        let real = if stop.real.is_empty() { "." } else { &stop.real };
        let opened = beneath::open(self.root, real, OFlags::RDONLY | OFlags::DIRECTORY);
        let mut entries = match opened.and_then(Dir::new) {
            Ok(entries) => entries,
            Err(errno) => return self.unreadable(stop, errno),
        };
        let at = entries.fd().map_err(|errno| Error::io("read the folder")(errno.into()))?;
        let rules = match Rules::of_folder(at, &stop.real, stop.rules.clone()) {
            Ok(rules) => rules,
            // What it names is not known, so nothing of the folder is shown.
            Err(why) => {
                let path = join(&stop.listed, ignore::NAME);
                let reason = Reason::Unreadable(format!("{why}; its folder is left out"));
                self.problems.push(Problem::of_file(path.as_bytes(), reason));
                return Ok(());
            }
        };
        while let Some(entry) = entries.read() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => return self.unreadable(stop, errno),
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let at = entries.fd().map_err(|errno| Error::io("read the folder")(errno.into()))?;
            self.entry(stop, rules.as_ref(), at, name, entry.file_type());
            if self.files.len() + self.problems.len() > MAX_FILES || folders + self.stops.len() > MAX_FOLDERS
            {
                return Err(Error::TooManyFiles { most: MAX_FILES });
            }
        }
        Ok(())
    }

    /// A root that can't be read is an error: it would look as if all files were removed.
    fn unreadable(&mut self, stop: &PendingFolder, errno: Errno) -> Result<(), Error> {
        let source = io::Error::from(errno);
        if stop.listed.is_empty() {
            return Err(if is_gone(errno) {
                Error::NoFolder(source)
            } else {
                Error::io("read the folder")(source)
            });
        }
        if !is_gone(errno) {
            let reason = Reason::Unreadable(source.kind().to_string());
            self.problems.push(Problem::of_folder(stop.listed.as_bytes(), reason));
        }
        Ok(())
    }

    fn entry(
        &mut self,
        stop: &PendingFolder,
        rules: Option<&Arc<Rules>>,
        at: BorrowedFd<'_>,
        name: &CStr,
        kind: FileType,
    ) {
        // Some file systems do not say; and a file has to be looked at anyway.
        let (kind, stat) = match kind {
            FileType::Unknown | FileType::RegularFile => match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => (FileType::from_raw_mode(stat.st_mode), Some(stat)),
                Err(_gone) => return,
            },
            kind => (kind, None),
        };
        let Ok(text) = name.to_str() else {
            let path = join(&stop.listed, &name.to_string_lossy());
            return self.leave_out(&path, of_type(kind), Reason::NotText);
        };
        let (listed, real) = (join(&stop.listed, text), join(&stop.real, text));
        if kind == FileType::Symlink {
            return self.link(stop, rules, listed, &real);
        }
        match verdict(&real, of_type(kind), rules) {
            Verdict::Taken => {}
            Verdict::PassedOver => return,
            Verdict::LeftOut(reason) => return self.leave_out(&listed, of_type(kind), reason),
        }
        match (kind, stat) {
            (FileType::RegularFile, Some(stat)) => {
                let elsewhere = (stop.real != stop.listed).then_some(real);
                self.file(&listed, elsewhere, &stat);
            }
            (FileType::Directory, _) => self.folder(stop, rules, listed, real),
            _ => self.leave_out(&listed, Kind::File, Reason::Special),
        }
    }

    fn leave_out(&mut self, listed: &str, kind: Kind, reason: Reason) {
        self.problems.push(match kind {
            Kind::File => Problem::of_file(listed.as_bytes(), reason),
            Kind::Folder => Problem::of_folder(listed.as_bytes(), reason),
        });
    }

    /// Takes a file that is really somewhere else, or right where it is listed.
    fn file(&mut self, listed: &str, elsewhere: Option<String>, stat: &Stat) {
        let path = match RelPath::parse(listed) {
            Ok(path) => path,
            Err(invalid) => return self.leave_out(listed, Kind::File, Reason::NotAPath(invalid)),
        };
        let mark = FileMark::new(stat, self.now);
        if let Some(real) = elsewhere {
            self.through_links.insert(path.clone(), real);
        }
        self.files.push((path, FileMeta { size: mark.size(), stamp: Stamp(Mark::File(mark)) }));
    }

    /// Goes on in a folder. Where its own path is none of ours, each of its files is left out by itself.
    fn folder(&mut self, stop: &PendingFolder, rules: Option<&Arc<Rules>>, listed: String, real: String) {
        // Without a link above, what is listed is what is there, and no folder is in itself.
        let above = stop.above.as_ref().map(|above| Chain::put(stop.real.clone(), Some(above.clone())));
        if above.as_ref().is_some_and(|above| above.holds(&real)) {
            return self.leave_out(&listed, Kind::Folder, Reason::Leaves);
        }
        match RelPath::parse(&listed) {
            Err(invalid) if listed.len() > MAX_WALK_PATH_BYTES => {
                self.leave_out(&listed, Kind::Folder, Reason::NotAPath(invalid));
            }
            _ => self.stops.push(PendingFolder { listed, real, above, rules: rules.cloned() }),
        }
    }
}

/// What the name of something and the rules of its folder say about it.
fn verdict(real: &str, kind: Kind, rules: Option<&Arc<Rules>>) -> Verdict {
    let (folder, name) = real.rsplit_once('/').unwrap_or(("", real));
    let folder = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
    match by_name(folder, name, kind) {
        Verdict::Taken => {}
        verdict => return verdict,
    }
    let line = rules.and_then(|rules| rules.line_for(real, kind));
    line.map_or(Verdict::Taken, |line| Verdict::LeftOut(Reason::Ignored(line)))
}

fn of_type(kind: FileType) -> Kind {
    if kind == FileType::Directory { Kind::Folder } else { Kind::File }
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Whether something was removed or replaced while it was being listed.
fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
