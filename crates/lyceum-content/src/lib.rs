//! Bytes to nouns, without I/O: what is known of the sources, as one immutable snapshot.
//!
//! The parsers (frontmatter, skills, ontology, chunks) move in here with the services that need them.

mod catalog;
mod current;

pub use catalog::{Catalog, SourceState, SourceStatus};
pub use current::Current;
