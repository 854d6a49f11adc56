//! Where the repository is. Every path in `xtask` starts here, so it works from any folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The checked-out repository.
pub(crate) struct Repo {
    root: PathBuf,
}

impl Repo {
    /// Finds the repository this program was built from.
    pub(crate) fn here() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: manifest.parent().unwrap_or(manifest).to_path_buf() }
    }

    /// Joins a `/`-separated path to the root.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Makes a command that runs in the root.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }
}
