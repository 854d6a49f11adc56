//! The model of a knowledge base: entries, ids, the lexicon, groups and releases. Pure.

mod catalog;
mod entry;
mod excerpt;
mod ids;
mod lexicon;
mod listing;
mod near;

pub use catalog::{Catalog, EntryPage, Filter};
pub use entry::{Entry, EntryParts, Summary, texts};
pub use excerpt::{excerpt, heading, truncate};
pub use ids::{AssignedId, MAX_ID_BYTES, assign};
pub use lexicon::{define, search_terms};
pub use listing::{Group, Release, groups, releases};
pub use near::{completions, near_documents, near_terms};

#[cfg(test)]
mod tests;
