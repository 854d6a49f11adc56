//! Installation of a model: one process at a time, atomically.

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

/// Timeout for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_mins(20);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Length of the origin hash in folder names.
const ORIGIN_DIGITS: usize = 16;

/// The exclusive right to install one model. A file lock, so the system releases it if the process dies.
#[derive(Debug)]
pub(super) struct InstallLock {
    folder: PathBuf,
    /// Downloads, resumed by the next pull if this one fails.
    parts: PathBuf,
    staging: PathBuf,
    _lock: File,
}

impl Drop for InstallLock {
    fn drop(&mut self) {
        // Succeeds only if it is empty; otherwise the next pull resumes from it.
        let _kept_unless_empty = fs::remove_dir(&self.parts);
    }
}

impl InstallLock {
    /// Waits for the lock of a model.
    pub(super) async fn take(options: &PullOptions) -> Result<Self, PullError> {
        let folder = options.folder();
        let name = ModelError::name_of(&folder);
        let parent = folder.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;
        let lock = File::create(parent.join(format!(".{name}.lock")))?;
        let started = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIMEOUT => {
                    return Err(PullError::Occupied(LOCK_TIMEOUT));
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_POLL_INTERVAL).await,
            }
        }
        Ok(Self {
            parts: parent.join(format!(".{name}.{}.parts", origin(options))),
            staging: parent.join(format!(".{name}.new")),
            folder,
            _lock: lock,
        })
    }

    /// The installed model, if it is intact and matches the options.
    pub(super) async fn installed(&self, options: &PullOptions) -> Option<Folder> {
        let (folder, options) = (self.folder.clone(), options.clone());
        let open = move || {
            let card: Card = read_json(&folder.join(CARD)).ok()?;
            matches(&card, &options).then(|| Folder::open(&folder).ok()).flatten()
        };
        tokio::task::spawn_blocking(open).await.ok().flatten()
    }

    /// Folder of downloads.
    pub(super) fn parts(&self) -> io::Result<&Path> {
        fs::create_dir_all(&self.parts)?;
        Ok(&self.parts)
    }

    /// Download folders of this model, from all origins.
    fn all_parts(&self) -> io::Result<Vec<PathBuf>> {
        let name = ModelError::name_of(&self.folder);
        let parent = self.folder.parent().unwrap_or(Path::new("."));
        let mut found = Vec::new();
        for entry in fs::read_dir(parent)? {
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

    /// Creates an empty staging folder.
    pub(super) fn staging(&self) -> io::Result<PathBuf> {
        remove_if_exists(&self.staging)?;
        fs::create_dir_all(&self.staging)?;
        Ok(self.staging.clone())
    }

    /// Moves the prepared model to its destination and deletes the old one.
    pub(super) async fn install(self, prepared: &Path) -> Result<Folder, PullError> {
        let old = self.staging.with_extension("old");
        remove_if_exists(&old)?;
        match fs::rename(&self.folder, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        fs::rename(prepared, &self.folder)?;
        remove_if_exists(&old)?;
        for parts in self.all_parts()? {
            remove_if_exists(&parts)?;
        }
        let folder = self.folder.clone();
        let folder = tokio::task::spawn_blocking(move || Folder::open(&folder)).await;
        Ok(folder.map_err(io::Error::other)??)
    }
}

/// Whether a card matches the options. The default model is identified by its hash, whatever the source.
fn matches(card: &Card, options: &PullOptions) -> bool {
    if options.is_default() {
        return card.variant == options.variant && card.source_sha256 == pinned::WEIGHTS.sha256;
    }
    card.repo.as_ref() == Some(&options.repo) && card.revision.as_ref() == Some(&options.revision)
}

/// Short hash of hub, name and revision: a download is never resumed from another origin.
fn origin(options: &PullOptions) -> String {
    let PullOptions { hub, repo, revision, .. } = options;
    let mut hash = digest::of_all([("hub", hub.as_str()), ("repo", repo), ("revision", revision)]);
    hash.truncate(ORIGIN_DIGITS);
    hash
}

fn remove_if_exists(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
