//! Where a pulled model goes: one process at a time, whole or not at all.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::PullError;
use crate::model::{
    Folder, ModelError, Variant,
    card::{CARD, Card},
    read_json,
};

/// How long another process may take with the same model.
const PATIENCE: Duration = Duration::from_mins(20);
const PAUSE: Duration = Duration::from_millis(100);

/// The right to put one model in its place. The system ends it with the process that holds it.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    /// What is downloaded lies here, and is continued by the next pull if this one breaks off.
    parts: PathBuf,
    fresh: PathBuf,
    _lock: File,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Goes only where nothing is in it that a later pull could go on with.
        let _stays_where_it_is_of_use = fs::remove_dir(&self.parts);
    }
}

impl Place {
    /// Waits until no other process pulls this model.
    pub(super) async fn take(folder: &Path) -> Result<Self, PullError> {
        let name = ModelError::name_of(folder);
        let beside = folder.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(beside)?;
        let lock = File::create(beside.join(format!(".{name}.lock")))?;
        let since = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(fault)) => return Err(fault.into()),
                Err(TryLockError::WouldBlock) if since.elapsed() > PATIENCE => {
                    return Err(PullError::Occupied(PATIENCE));
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            parts: beside.join(format!(".{name}.parts")),
            fresh: beside.join(format!(".{name}.new")),
            _lock: lock,
        })
    }

    /// The model, if it is there already, whole, and was prepared by a pull in this variant (or in any).
    pub(super) async fn present(&self, variant: Option<Variant>) -> Option<Folder> {
        let folder = self.folder.clone();
        let open = move || {
            let card: Card = read_json(&folder.join(CARD)).ok()?;
            let fits = variant.is_none_or(|variant| variant == card.variant);
            fits.then(|| Folder::open(&folder).ok()).flatten()
        };
        tokio::task::spawn_blocking(open).await.ok().flatten()
    }

    /// Where downloads go.
    pub(super) fn parts(&self) -> io::Result<&Path> {
        fs::create_dir_all(&self.parts)?;
        Ok(&self.parts)
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
        gone(&self.parts)?;
        let folder = self.folder.clone();
        let folder = tokio::task::spawn_blocking(move || Folder::open(&folder)).await;
        Ok(folder.map_err(io::Error::other)??)
    }
}

fn gone(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    }
}
