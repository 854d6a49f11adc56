//! Bytes to nouns, without I/O: what the files of a source mean, as immutable snapshots.
//!
//! Frontmatter, skills and typed documents are read here; further parsers (chunks) move in with the services that need them.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod catalog;
mod current;
pub mod document;
pub mod frontmatter;
pub mod knowledge;
mod listing;
pub mod ontology;
pub mod skill;

pub use catalog::{Catalog, SourceState, SourceStatus};
pub use current::Current;
pub use listing::files_below;
