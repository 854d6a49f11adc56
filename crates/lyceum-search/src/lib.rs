//! Finding: words and vectors, filters, fusion, reranking, evaluation.
//!
//! Pages go in ([`Search::apply`]), answers come out ([`Search::find`]). Words are searched at once; vectors are made behind
//! them ([`Search::keep_filled`]) and join in as they come.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod breaker;
mod chunk;
mod error;
pub mod eval;
mod failure;
mod filling;
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

pub use error::Error;
pub use failure::Failure;
pub use filling::{Connect, ModelStatus};
pub use filter::Filter;
pub use find::{Answer, Facets, Hit, LONGEST, MOST, Mode, Query, Ranked, Searched, Stages};
pub use page::{Facts, Kind, Page};
pub use search::{Options, Plan, Ranking, Search, State, Status, discard};
