//! Sources: folders, Git repositories and bundled files, each read as an immutable snapshot of files.
//!
//! Refreshing a [`Source`] yields a [`Snapshot`], which readers can hold as long as they like.
//! The `git` program does the network part, so that credential helpers, ssh, proxies and certificates work as on the
//! command line; objects are read in process.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod askpass;
mod bundled;
mod error;
mod folder;
mod git;
pub mod github;
mod problem;
mod repository;
mod snapshot;
mod source;
mod source_watch;
mod stamp;
mod watch;
mod web;
mod webhook;

pub use askpass::{ASKPASS_VARIABLE, askpass};
pub use bundled::Bundled;
pub use error::{Error, ReadError};
pub use folder::{Folder, folder_links};
pub use git::{Fault, GitMessage};
pub use problem::{Extent, Problem, Reason};
pub use repository::{FileCommit, Limits, Pushed, Repository, Settings};
pub use snapshot::{FileMeta, Snapshot};
pub use source::{Kind, Source};
pub use source_watch::SourceWatch;
pub use stamp::Stamp;
pub use watch::{Change, Watch, watch};
pub use web::{encode_path, file_link, file_links};
pub use webhook::{Excerpt, Push, SignatureCheck};

/// Maximum number of files of a source.
const MAX_FILES: usize = 200_000;

/// Maximum length of a folder's path to descend into, in bytes. It exceeds the limit of `RelPath`, so that files with
/// overlong paths are reported individually.
const MAX_WALK_PATH_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
