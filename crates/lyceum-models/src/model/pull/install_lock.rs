//! Where a pulled model goes: one process at a time, whole or not at all.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{PullError, PullOptions, pinned};
use crate::model::{
    Folder, ModelError,
    card::{CARD, Card},
    digest, read_json,
};

/// How long another process may take with the same model.
const LOCK_TIMEOUT: Duration = Duration::from_mins(20);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long the short name of where files come from is.
const ORIGIN_DIGITS: usize = 16;

/// The right to put one model in its place. The system ends it with the process that holds it.
#[derive(Debug)]
pub(super) struct InstallLock {
    folder: PathBuf,
    /// What is downloaded lies here, and is continued by the next pull if this one breaks off.
    parts: PathBuf,
    fresh: PathBuf,
    _lock: File,
}

impl Drop for InstallLock {
    fn drop(&mut self) {
        // Goes only where nothing is in it that a later pull could go on with.
        let _stays_where_it_is_of_use = fs::remove_dir(&self.parts);
    }
}

impl InstallLock {
    /// Waits until no other process pulls a model of this name.
    pub(super) async fn take(options: &PullOptions) -> Result<Self, PullError> {
        let folder = options.folder();
        let name = ModelError::name_of(&folder);
        let beside = folder.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(beside)?;
        let lock = File::create(beside.join(format!(".{name}.lock")))?;
        let since = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(fault)) => return Err(fault.into()),
                Err(TryLockError::WouldBlock) if since.elapsed() > LOCK_TIMEOUT => {
                    return Err(PullError::Occupied(LOCK_TIMEOUT));
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_POLL_INTERVAL).await,
            }
        }
        Ok(Self {
            parts: beside.join(format!(".{name}.{}.parts", origin(options))),
            fresh: beside.join(format!(".{name}.new")),
            folder,
            _lock: lock,
        })
    }

    /// The model, if it is there already, whole, and was prepared by such a pull.
    pub(super) async fn present(&self, options: &PullOptions) -> Option<Folder> {
        let (folder, options) = (self.folder.clone(), options.clone());
        let open = move || {
            let card: Card = read_json(&folder.join(CARD)).ok()?;
            is_of(&card, &options).then(|| Folder::open(&folder).ok()).flatten()
        };
        tokio::task::spawn_blocking(open).await.ok().flatten()
    }

    /// Where downloads go.
    pub(super) fn parts(&self) -> io::Result<&Path> {
        fs::create_dir_all(&self.parts)?;
        Ok(&self.parts)
    }

    /// Where downloads of a model of this name went, also from elsewhere.
    fn all_parts(&self) -> io::Result<Vec<PathBuf>> {
        let name = ModelError::name_of(&self.folder);
        let beside = self.folder.parent().unwrap_or(Path::new("."));
        let mut found = Vec::new();
        for entry in fs::read_dir(beside)? {
            let path = entry?.path();
            let file = ModelError::name_of(&path);
            let inner = file.strip_prefix(&format!(".{name}.")).and_then(|rest| rest.strip_suffix("parts"));
            let is_origin =
                |inner: &str| inner.len() == ORIGIN_DIGITS + 1 && !inner.trim_end_matches('.').contains('.');
            if inner.is_some_and(|inner| inner.is_empty() || is_origin(inner)) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// An empty folder to put the model together in.
    pub(super) fn fresh(&self) -> io::Result<PathBuf> {
        gone(&self.fresh)?;
        fs::create_dir_all(&self.fresh)?;
        Ok(self.fresh.clone())
    }

    /// Moves what was put together to its place, and what stood there out of the way.
    pub(super) async fn keep(self, made: &Path) -> Result<Folder, PullError> {
        let old = self.fresh.with_extension("old");
        gone(&old)?;
        match fs::rename(&self.folder, &old) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault.into()),
            _ => {}
        }
        fs::rename(made, &self.folder)?;
        gone(&old)?;
        for parts in self.all_parts()? {
            gone(&parts)?;
        }
        let folder = self.folder.clone();
        let folder = tokio::task::spawn_blocking(move || Folder::open(&folder)).await;
        Ok(folder.map_err(io::Error::other)??)
    }
}

/// Whether a card is that of the model that is wanted. The default model is known by its bytes, whoever carries it.
fn is_of(card: &Card, options: &PullOptions) -> bool {
    if options.is_default() {
        return card.variant == options.variant && card.source_sha256 == pinned::WEIGHTS.sha256;
    }
    card.repo.as_ref() == Some(&options.repo) && card.revision.as_ref() == Some(&options.revision)
}

/// Where files come from, in short: what was got there is not continued with the files of another.
fn origin(options: &PullOptions) -> String {
    let PullOptions { hub, repo, revision, .. } = options;
    let mut hash = digest::of_all([("hub", hub.as_str()), ("repo", repo), ("revision", revision)]);
    hash.truncate(ORIGIN_DIGITS);
    hash
}

fn gone(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    }
}
