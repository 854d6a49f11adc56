//! What the sandbox is told of the machine and of the program it is part of.

use std::path::PathBuf;

/// How the server's own program is started again.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, such that it calls [`helper_main`](crate::helper_main) before anything else.
    pub args: Vec<String>,
}

impl Helper {
    /// The program that is running, also if its file was replaced since.
    pub fn this_program(args: Vec<String>) -> Self {
        Self { program: PathBuf::from("/proc/self/exe"), args }
    }
}

/// What the sandbox needs of this machine.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The server's own program.
    pub helper: Helper,
    /// Where the folder of each run is made: the folder for temporary files, if there is no better one. Where the
    /// server is root, other users must be able to pass through it.
    pub base: PathBuf,
    /// The folders where `bwrap` is looked for.
    pub search: Vec<PathBuf>,
}
