//! Machine-learning models: their files, the runtime, and what they do, on this machine or behind an endpoint.
//!
//! Search, code search and chat use them alike; nothing here knows what a page or an index is.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

pub mod embedder;
mod endpoint;
pub mod model;
pub mod reranker;
