//! Hybrid search: lexical and vector index, filters, fusion, reranking, evaluation.
//!
//! Pages go in ([`Search::apply`]), results come out ([`Search::find`]). Words are searched at once; vectors are made behind
//! them ([`Search::keep_embedded`]) and join in as they come.

mod breaker;
mod chunk;
mod embed_queue;
pub mod embedder;
mod endpoint;
mod error;
pub mod eval;
mod failure;
mod filter;
mod find;
mod fuse;
mod lexical;
mod memory;
pub mod model;
mod page;
pub mod rerank;
pub mod reranker;
mod search;
mod snippet;
#[cfg(test)]
mod tests;
mod vectors;

pub use embed_queue::{Connect, ModelStatus};
pub use endpoint::{InvalidSecret, Secret};
pub use error::Error;
pub use failure::Failure;
pub use filter::Filter;
pub use find::{
    Facets, Hit, MAX_QUERY_CHARS, MAX_RESULTS, Mode, Query, QueryResult, Ranked, Searched, Stages,
};
pub use page::{Facts, Kind, Page};
pub use search::{Options, Plan, Ranking, Search, State, Status, discard};
