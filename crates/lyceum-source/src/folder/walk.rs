//! Lists all files below a folder.
//!
//! A symlink is resolved once and its target recorded by real path; nothing is ever opened through a symlink. Entries
//! that vanish during the walk are skipped.

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
    exclusion::{Kind, Verdict, by_name, is_always_excluded},
    ignore::{self, Rules},
    mark::FileMark,
};
use crate::{Error, FileMeta, MAX_FILES, MAX_WALK_PATH_BYTES, Problem, Reason, Snapshot, Stamp, stamp::Mark};

/// Maximum number of visited folders, including empty ones and those reached twice.
const MAX_FOLDERS: usize = MAX_FILES;

/// Minimum number of pending folders to walk them in parallel.
const MIN_PARALLEL_FOLDERS: usize = 64;

/// Result of a walk.
pub(super) struct WalkResult {
    pub(super) files: BTreeMap<RelPath, FileMeta>,
    pub(super) problems: Vec<Problem>,
    pub(super) through_links: HashMap<RelPath, String>,
}

/// A folder to visit.
struct PendingFolder {
    /// Its path as listed; empty for the root.
    listed: String,
    /// Its real path, without symlinks; empty for the root.
    real: String,
    /// Real paths of its ancestors in the listing; set once a symlink was followed.
    above: Option<Arc<Chain>>,
    /// Rules of the `.gitignore` files above it.
    rules: Option<Arc<Rules>>,
}

/// The `.gitignore` rules that apply in a folder, or why the folder is excluded.
type FolderRules = Result<Option<Arc<Rules>>, Reason>;

struct Walk<'a> {
    root: &'a OwnedFd,
    root_path: &'a Path,
    /// Real path of the root; computed at the first symlink.
    real_root: Option<PathBuf>,
    /// Rules of the `.gitignore` files above the root.
    rules_above: Option<Arc<Rules>>,
    /// Cached rules of folders reached other than from their parent.
    known_rules: HashMap<String, FolderRules>,
    now: i64,
    pending: Vec<PendingFolder>,
    /// Number of folders visited by all workers.
    folders: Arc<AtomicUsize>,
    files: Vec<(RelPath, FileMeta)>,
    problems: Vec<Problem>,
    through_links: HashMap<RelPath, String>,
}

/// Lists everything below the root, which was opened at `root_path`. Runs on all cores.
pub(super) fn walk(root: &OwnedFd, root_path: &Path) -> Result<WalkResult, Error> {
    let mut walk = Walk::new(root, root_path, Rules::above_root(root_path));
    let rules = walk.rules_above.clone();
    walk.pending.push(PendingFolder { listed: String::new(), real: String::new(), above: None, rules });
    while walk.pending.len() < MIN_PARALLEL_FOLDERS
        && let Some(dir) = walk.pending.pop()
    {
        walk.visit(&dir)?;
    }
    if !walk.pending.is_empty() {
        walk.visit_in_parallel()?;
    }
    Ok(walk.into_result(BTreeMap::new(), Vec::new()))
}

/// Rescans some paths and takes the rest from a snapshot without symlinks. `None` if a full walk is needed.
pub(super) fn walk_paths(
    root: &OwnedFd,
    root_path: &Path,
    before: &Snapshot,
    paths: &[PathBuf],
) -> Result<Option<WalkResult>, Error> {
    let mut walk = Walk::new(root, root_path, Rules::above_root(root_path));
    let (mut files, mut problems) = (before.files().clone(), before.problems().to_vec());
    let paths: Option<BTreeSet<&str>> = paths.iter().map(|changed| changed.to_str()).collect();
    let Some(mut paths) = paths else { return Ok(None) };
    // Changed rules can affect files anywhere.
    if paths.iter().any(|changed| changed.rsplit('/').next() == Some(ignore::NAME)) {
        return Ok(None);
    }
    paths.retain(|changed| !changed.split('/').any(|part| is_always_excluded(part.as_bytes())));
    for changed in paths {
        let gone: Vec<RelPath> = files
            .range::<str, _>((Bound::Included(changed), Bound::Unbounded))
            .map(|(path, _)| path)
            .take_while(|path| path.as_str().starts_with(changed))
            .filter(|path| is_at_or_below(path.as_str(), changed))
            .cloned()
            .collect();
        for path in &gone {
            files.remove(path);
        }
        problems.retain(|problem| !is_at_or_below(&problem.path, changed));
        let (folder, name) = changed.rsplit_once('/').unwrap_or(("", changed));
        let opened = beneath::open(
            root,
            if folder.is_empty() { "." } else { folder },
            OFlags::RDONLY | OFlags::DIRECTORY,
        );
        match (opened, CString::new(name)) {
            (Ok(at), Ok(name)) => {
                // Skip everything below an excluded folder.
                let Ok(rules) = walk.rules_of(folder) else { continue };
                let dir = PendingFolder {
                    listed: folder.to_owned(),
                    real: folder.to_owned(),
                    above: None,
                    rules: None,
                };
                walk.entry(&dir, rules.as_ref(), at.as_fd(), &name, FileType::Unknown);
            }
            (Err(Errno::NOENT), _) => {}
            _ => return Ok(None),
        }
    }
    walk.visit_all()?;
    if files.len() + walk.files.len() + problems.len() + walk.problems.len() > MAX_FILES {
        return Err(Error::TooManyFiles { limit: MAX_FILES });
    }
    Ok(Some(walk.into_result(files, problems)))
}

fn is_at_or_below(path: &str, base: &str) -> bool {
    path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
            pending: Vec::new(),
            folders: Arc::default(),
            files: Vec::new(),
            problems: Vec::new(),
            through_links: HashMap::new(),
        }
    }

    fn visit_all(&mut self) -> Result<(), Error> {
        while let Some(dir) = self.pending.pop() {
            self.visit(&dir)?;
        }
        Ok(())
    }

    /// Visits the pending folders in parallel, on all cores.
    fn visit_in_parallel(&mut self) -> Result<(), Error> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut workers: Vec<Self> = Vec::new();
        let worker = || {
            let worker = Self::new(self.root, self.root_path, self.rules_above.clone());
            Self { folders: self.folders.clone(), ..worker }
        };
        workers.resize_with(cores, worker);
        for (number, dir) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            if let Some(worker) = workers.get_mut(number % cores) {
                worker.pending.push(dir);
            }
        }
        let done: Vec<Result<Self, Error>> = thread::scope(|scope| {
            let visit = |mut worker: Self| worker.visit_all().map(|()| worker);
            let threads: Vec<_> =
                workers.into_iter().map(|worker| scope.spawn(move || visit(worker))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        for worker in done {
            let worker = worker?;
            self.files.extend(worker.files);
            self.problems.extend(worker.problems);
            self.through_links.extend(worker.through_links);
        }
        if self.files.len() + self.problems.len() > MAX_FILES {
            return Err(Error::TooManyFiles { limit: MAX_FILES });
        }
        Ok(())
    }

    /// Merges what was found with files and problems that are known already.
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

    fn visit(&mut self, dir: &PendingFolder) -> Result<(), Error> {
        let folders = self.folders.fetch_add(1, Ordering::Relaxed);
        let real = if dir.real.is_empty() { "." } else { &dir.real };
        let opened = beneath::open(self.root, real, OFlags::RDONLY | OFlags::DIRECTORY);
        let mut entries = match opened.and_then(Dir::new) {
            Ok(entries) => entries,
            Err(errno) => return self.unreadable(dir, errno),
        };
        let at = entries.fd().map_err(|errno| Error::io("read the folder")(errno.into()))?;
        let rules = match Rules::of_folder(at, &dir.real, dir.rules.clone()) {
            Ok(rules) => rules,
            // Without its rules we can't tell what is ignored, so exclude the whole folder.
            Err(why) => {
                let path = join(&dir.listed, ignore::NAME);
                let reason = Reason::Unreadable(format!("{why}; the folder is excluded"));
                self.problems.push(Problem::of_file(path.as_bytes(), reason));
                return Ok(());
            }
        };
        while let Some(entry) = entries.read() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => return self.unreadable(dir, errno),
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let at = entries.fd().map_err(|errno| Error::io("read the folder")(errno.into()))?;
            self.entry(dir, rules.as_ref(), at, name, entry.file_type());
            if self.files.len() + self.problems.len() > MAX_FILES
                || folders + self.pending.len() > MAX_FOLDERS
            {
                return Err(Error::TooManyFiles { limit: MAX_FILES });
            }
        }
        Ok(())
    }

    /// Handles an unreadable folder. An unreadable root is an error; otherwise it would look as if all files were
    /// deleted.
    fn unreadable(&mut self, dir: &PendingFolder, errno: Errno) -> Result<(), Error> {
        let source = io::Error::from(errno);
        if dir.listed.is_empty() {
            return Err(if is_gone(errno) || errno == Errno::ACCESS {
                Error::folder(source)
            } else {
                Error::io("read the folder")(source)
            });
        }
        if !is_gone(errno) {
            let reason = Reason::Unreadable(source.kind().to_string());
            self.problems.push(Problem::of_folder(dir.listed.as_bytes(), reason));
        }
        Ok(())
    }

    fn entry(
        &mut self,
        dir: &PendingFolder,
        rules: Option<&Arc<Rules>>,
        at: BorrowedFd<'_>,
        name: &CStr,
        kind: FileType,
    ) {
        // Some file systems don't report the type; files need a stat anyway.
        let (kind, stat) = match kind {
            FileType::Unknown | FileType::RegularFile => match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => (FileType::from_raw_mode(stat.st_mode), Some(stat)),
                Err(_gone) => return,
            },
            kind => (kind, None),
        };
        let Ok(text) = name.to_str() else {
            let path = join(&dir.listed, &name.to_string_lossy());
            return self.exclude(&path, kind_of(kind), Reason::NotText);
        };
        let (listed, real) = (join(&dir.listed, text), join(&dir.real, text));
        if kind == FileType::Symlink {
            return self.link(dir, rules, listed, &real);
        }
        match verdict(&real, kind_of(kind), rules) {
            Verdict::Included => {}
            Verdict::SilentlyExcluded => return,
            Verdict::Excluded(reason) => return self.exclude(&listed, kind_of(kind), reason),
        }
        match (kind, stat) {
            (FileType::RegularFile, Some(stat)) => {
                let elsewhere = (dir.real != dir.listed).then_some(real);
                self.file(&listed, elsewhere, &stat);
            }
            (FileType::Directory, _) => self.folder(dir, rules, listed, real),
            _ => self.exclude(&listed, Kind::File, Reason::Special),
        }
    }

    fn exclude(&mut self, listed: &str, kind: Kind, reason: Reason) {
        self.problems.push(match kind {
            Kind::File => Problem::of_file(listed.as_bytes(), reason),
            Kind::Folder => Problem::of_folder(listed.as_bytes(), reason),
        });
    }

    /// Adds a file; `elsewhere` is its real path if that differs from the listed one.
    fn file(&mut self, listed: &str, elsewhere: Option<String>, stat: &Stat) {
        let path = match RelPath::parse(listed) {
            Ok(path) => path,
            Err(invalid) => return self.exclude(listed, Kind::File, Reason::NotAPath(invalid)),
        };
        let mark = FileMark::new(stat, self.now);
        if let Some(real) = elsewhere {
            self.through_links.insert(path.clone(), real);
        }
        self.files.push((path, FileMeta { size: mark.size(), stamp: Stamp(Mark::File(mark)) }));
    }

    /// Queues a folder. If its path is invalid, each of its files is excluded and reported individually.
    fn folder(&mut self, dir: &PendingFolder, rules: Option<&Arc<Rules>>, listed: String, real: String) {
        // Cycles are possible only below a symlink.
        let above = dir.above.as_ref().map(|above| Chain::push(dir.real.clone(), Some(above.clone())));
        if above.as_ref().is_some_and(|above| above.contains(&real)) {
            return self.exclude(&listed, Kind::Folder, Reason::Leaves);
        }
        match RelPath::parse(&listed) {
            Err(invalid) if listed.len() > MAX_WALK_PATH_BYTES => {
                self.exclude(&listed, Kind::Folder, Reason::NotAPath(invalid));
            }
            _ => self.pending.push(PendingFolder { listed, real, above, rules: rules.cloned() }),
        }
    }
}

/// Judges an entry by its name and the rules of its folder.
fn verdict(real: &str, kind: Kind, rules: Option<&Arc<Rules>>) -> Verdict {
    let (folder, name) = real.rsplit_once('/').unwrap_or(("", real));
    let folder = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
    match by_name(folder, name, kind) {
        Verdict::Included => {}
        verdict => return verdict,
    }
    let line = rules.and_then(|rules| rules.matching_pattern(real, kind));
    line.map_or(Verdict::Included, |line| Verdict::Excluded(Reason::Ignored(line)))
}

fn kind_of(kind: FileType) -> Kind {
    if kind == FileType::Directory { Kind::Folder } else { Kind::File }
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Whether an entry was deleted or replaced during the walk.
fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
