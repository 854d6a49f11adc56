//! A temporary folder that is deleted on drop.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

/// A new folder below the system's temporary folder; deleted on drop.
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates a new, empty folder.
    pub fn new() -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("lyceum-harness-{}-{number}", std::process::id()));
            // `create_dir`, not `create_dir_all`: an existing folder belongs to somebody else.
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("could not create {}", path.display()));
                }
            }
        }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a folder inside, if it does not exist.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).with_context(|| format!("could not create {}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: a leftover folder must not hide the real outcome.
        let _ = fs::remove_dir_all(&self.path);
    }
}
