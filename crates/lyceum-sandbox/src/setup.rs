//! Setup of the sandbox: the helper program and paths.

use std::path::PathBuf;

/// How to execute the server's own program again.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, such that it calls [`helper_main`](crate::helper_main) before anything else.
    pub args: Vec<String>,
}

impl Helper {
    /// The running program, even if its file was replaced since.
    pub fn this_program(args: Vec<String>) -> Self {
        Self { program: PathBuf::from("/proc/self/exe"), args }
    }
}

/// What the sandbox needs to know about this machine.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The server's own program.
    pub helper: Helper,
    /// Base folder of the folders of runs: usually the folder for temporary files. If the server is root, other
    /// users must be able to traverse it.
    pub base: PathBuf,
    /// Folders to search for `bwrap`.
    pub search: Vec<PathBuf>,
}
