//! Machine-learning models, local or behind an endpoint: embedding, reranking, model files, inference.
//!
//! Independent of search: nothing here knows what a page or an index is.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests spawn tasks and wait for them"))]

pub mod embedder;
mod endpoint;
pub mod model;
pub mod reranker;
