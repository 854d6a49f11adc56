//! Finding: words and vectors, filters, fusion, reranking, evaluation.

pub mod embedder;
pub mod model;
pub mod reranker;
