//! Where the repository is. Every path starts here, so that a command works from any folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The checked-out repository.
pub struct Repo {
    root: PathBuf,
}

impl Repo {
    /// Finds the repository that this crate is in, which is `crates/lyceum-harness`.
    pub fn here() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf() }
    }

    /// Joins a `/`-separated path to the root.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Makes a command that runs in the root.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        // What cargo says of this program to itself would make another cargo build some of our libraries again, for their
        // build scripts look at it.
        for (name, _) in std::env::vars_os() {
            let is_of_this =
                |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
            if name.to_str().is_some_and(is_of_this) {
                command.env_remove(name);
            }
        }
        command
    }
}
