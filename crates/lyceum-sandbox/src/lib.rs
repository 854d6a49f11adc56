//! Runs untrusted scripts, with nothing but their own folder to read and a scratch folder to write.
//!
//! The server never restricts itself. It executes its own program again as a helper, which must call
//! [`helper_main`] before anything else. The helper supervises the run (timeout, memory, killing all processes,
//! also when the server dies) and starts another helper, which confines itself and then starts the script.
//!
//! Invariant: a script runs with every layer of its [`Level`] or not at all.
#![expect(clippy::disallowed_methods, reason = "starting processes is what this crate is for")]

mod error;
mod level;
mod script;
mod setup;

#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod sandbox;
#[cfg(not(target_os = "linux"))]
use sandbox as guard;

#[cfg(test)]
mod tests;

pub use error::{Error, Unavailable};
pub use guard::helper_main;
pub use level::{Level, LevelChoice, UnknownLevel};
pub use sandbox::{Sandbox, Variant};
pub use script::{
    Cwd, Limits, MemoryLimit, Network, Output, Script, ScriptOutcome, StopReason, Workspace, WorkspaceAccess,
};
pub use setup::{Helper, Setup};
