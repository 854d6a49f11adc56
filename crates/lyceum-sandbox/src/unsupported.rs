//! Where there is no Linux there is no sandbox, and so no script.

use std::process::ExitCode;

use crate::{Error, Level, LevelChoice, MemoryLimit, Script, ScriptOutcome, Setup, Unavailable};

/// A level that was found to work here: elsewhere there is none.
#[derive(Debug, Clone)]
pub enum Sandbox {}

#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Variant {}

impl Sandbox {
    /// Refuses.
    #[expect(clippy::unused_async, reason = "the same signature as on Linux")]
    pub async fn find(_: LevelChoice, _: Setup) -> Result<Self, Unavailable> {
        Err(Unavailable { text: "scripts need Linux".to_owned() })
    }

    /// The level.
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

/// There is nothing to help with.
pub fn helper_main() -> ExitCode {
    ExitCode::FAILURE
}
