//! Hybrid search: lexical and vector index, filters, fusion, reranking, evaluation.
//!
//! Pages go in ([`Search::apply`]), results come out ([`Search::find`]). Lexical search finds a page at once; vectors
//! are computed in the background ([`Search::keep_embedded`]).
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests spawn tasks and wait for them"))]

mod breaker;
mod chunk;
mod embed_queue;
mod error;
pub mod eval;
mod failure;
mod filter;
mod find;
mod fuse;
mod lexical;
mod memory;
mod page;
pub mod rerank;
mod search;
mod snippet;
#[cfg(test)]
mod tests;
mod vectors;

pub use embed_queue::{Connect, ModelStatus};
pub use error::Error;
pub use failure::Failure;
pub use filter::Filter;
pub use find::{
    Facets, Hit, IndexCoverage, IndexResult, MAX_QUERY_CHARS, MAX_RESULTS, MergedResult, Mode, Query,
    QueryResult, RankedPage, Stages, merge,
};
pub use lexical::analyzer::{Term, terms};
pub use page::{Facts, Kind, Page};
pub use search::{Options, Plan, Ranking, Search, State, Status, discard};
pub use vectors::VectorTable;
