//! Development only: fixtures and fake servers for tests, the conformance suite and the benchmarks.
#![expect(clippy::disallowed_methods, reason = "runs servers and git, for tests only")]

mod chain;
mod fixture;
mod git_server;
mod github;
mod model_folder;
mod sample_extension;
mod serving;

pub use chain::{ChainBehavior, TestChain};
pub use fixture::fixture_hub;
pub use git_server::{Checkout, Delivery, GitServer, Outcome, ServerBehavior, TestRepository, signature};
pub use github::{ContentsRequest, ScriptedResponse, TestGitHub, app_key};
pub use model_folder::{float_model_folder, model_folder};
pub use sample_extension::sample_extension;
