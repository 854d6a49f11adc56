//! Finding: words and vectors, filters, fusion, reranking, evaluation.

pub mod embedder;
mod endpoint;
pub mod rerank;
pub mod reranker;

pub use endpoint::{InvalidSecret, Secret};
