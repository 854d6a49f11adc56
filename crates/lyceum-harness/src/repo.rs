//! The root of the repository. All paths start here, so that a command works from any folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The checked-out repository.
pub struct Repo {
    root: PathBuf,
}

impl Repo {
    /// Finds the repository of this crate, which is in `crates/lyceum-harness`.
    pub fn here() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf() }
    }

    /// Joins a `/`-separated path to the root.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A command that runs in the root.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        // The variables that cargo sets for this program would make another cargo rebuild libraries whose build
        // scripts read them.
        for (name, _) in std::env::vars_os() {
            let is_set_by_cargo =
                |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
            if name.to_str().is_some_and(is_set_by_cargo) {
                command.env_remove(name);
            }
        }
        command
    }
}
