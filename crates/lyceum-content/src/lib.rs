//! Parses the files of a source into immutable snapshots. No I/O.
//!
//! Frontmatter, skills and typed documents are parsed here. `lyceum-search` splits documents into chunks.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

pub mod coarse;
mod current;
pub mod document;
mod freshness;
pub mod frontmatter;
pub mod knowledge;
pub mod language;
pub mod library;
mod listing;
pub mod ontology;
pub mod recognise;
pub mod skill;

pub use current::Current;
pub use freshness::{SourceState, SourceStatus};
pub use listing::files_below;
