//! Without Linux there is no sandbox, so scripts can't run.

use std::process::ExitCode;

use crate::{Error, Level, LevelChoice, MemoryLimit, Script, ScriptOutcome, Setup, Unavailable};

/// A sandbox; never constructed on this platform.
#[derive(Debug, Clone)]
pub enum Sandbox {}

#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Variant {}

impl Sandbox {
    /// Always fails.
    #[expect(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn find(_: LevelChoice, _: Setup) -> Result<Self, Unavailable> {
        Err(Unavailable { text: "scripts need Linux".to_owned() })
    }

    /// The sandbox level.
    pub fn level(&self) -> Level {
        match *self {}
    }

    /// How memory is limited.
    pub fn memory_limit(&self) -> MemoryLimit {
        match *self {}
    }

    /// Runs a script.
    #[expect(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn run(&self, _: Script) -> Result<ScriptOutcome, Error> {
        match *self {}
    }
}

/// Does nothing on this platform.
pub fn helper_main() -> ExitCode {
    ExitCode::FAILURE
}
