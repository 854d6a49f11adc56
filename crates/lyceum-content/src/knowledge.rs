//! The model of a knowledge base: entries, ids, the lexicon, groups and releases. Pure.

mod catalog;
mod entry;
mod excerpt;
mod ids;
mod lexicon;
mod listing;
mod near;
mod plain_text;
mod tags;
mod title;

pub use catalog::{Catalog, EntryPage, Filter};
pub use entry::{Entry, EntryParts, Summary, texts};
pub use excerpt::{excerpt, truncate};
pub use ids::{AssignedId, IdRequest, IdRule, MAX_ID_BYTES, MAX_PATH_ID_BYTES, assign, slug};
pub use lexicon::{define, search_terms};
pub use listing::{Group, Release, groups, releases};
pub use near::{completions, near_documents, near_terms};
pub use plain_text::{Dialect, plain_text};
pub use tags::inline_tags;
pub use title::{atx_heading, is_document_extension, title};

#[cfg(test)]
mod tests;
