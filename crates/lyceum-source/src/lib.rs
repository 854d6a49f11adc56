//! Where knowledge comes from: folders, Git repositories and files of the program, each read as an immutable snapshot of files.
//!
//! A [`Source`] is brought up to date and gives a [`Snapshot`]; readers keep that one for as long as they like.
//! The network side of Git is the `git` program, so that credential helpers, ssh, proxies and certificates work as
//! on the command line; objects are read in process.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod askpass;
mod bundled;
mod error;
mod folder;
mod git;
mod problem;
mod repository;
mod snapshot;
mod source;
mod stamp;
mod watch;
mod web;
mod webhook;

pub use askpass::{ASKPASS_VARIABLE, askpass};
pub use bundled::Bundled;
pub use error::{Error, ReadError};
pub use folder::Folder;
pub use git::{Fault, GitMessage};
pub use problem::{Extent, Problem, Reason};
pub use repository::{Limits, Repository, Settings};
pub use snapshot::{FileMeta, Snapshot};
pub use source::{Kind, Source};
pub use stamp::Stamp;
pub use watch::{Change, Watch, watch};
pub use web::{file_links, in_address};
pub use webhook::{Excerpt, Push, SignatureCheck};

/// The most files that a source may have.
const MAX_FILES: usize = 200_000;

/// The longest path of a folder that is looked into, in bytes. What is longer than a path of ours is told file by file.
const MAX_WALK_PATH_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
