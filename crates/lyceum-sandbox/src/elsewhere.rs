//! Where there is no Linux there is no sandbox, and so no script.

use std::{path::PathBuf, process::ExitCode};

use crate::{Error, Finished, Level, Script, Unavailable, Wanted};

/// How the server's own program is started again.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, such that it calls [`helper_main`](crate::helper_main).
    pub args: Vec<String>,
}

/// What the sandbox needs of this machine.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The server's own program.
    pub helper: Helper,
    /// Where the folder of each run is made.
    pub base: PathBuf,
    /// The folders where `bwrap` is looked for.
    pub search: Vec<PathBuf>,
}

/// A level that was found to work here: elsewhere there is none.
#[derive(Debug, Clone)]
pub enum Sandbox {}

#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Variant {}

impl Sandbox {
    /// Refuses.
    #[expect(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn find(_: Wanted, _: Setup) -> Result<Self, Unavailable> {
        Err(Unavailable { text: "scripts need Linux".to_owned() })
    }

    /// The level.
    pub fn level(&self) -> Level {
        match *self {}
    }

    /// Runs a script.
    #[expect(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn run(&self, _: Script) -> Result<Finished, Error> {
        match *self {}
    }
}

/// There is nothing to help with.
pub fn helper_main() -> ExitCode {
    ExitCode::FAILURE
}
