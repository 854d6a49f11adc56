//! Development only: fixtures and fake servers for tests, the conformance suite and the benchmarks.
#![expect(clippy::disallowed_methods, reason = "runs servers and git, for tests only")]

mod chain;
mod fixture;
mod git_server;
mod github;
mod model_folder;
mod s3;
mod sample_extension;
mod serving;
#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a script that goes wrong must fail the test"
)]
mod upstream;

pub use chain::{ChainBehavior, TestChain};
pub use fixture::fixture_hub;
pub use git_server::{Checkout, Delivery, GitServer, Outcome, ServerBehavior, TestRepository, signature};
pub use github::{ContentsRequest, ScriptedResponse, TestGitHub, TestPullRequest, app_key};
pub use model_folder::{float_model_folder, model_folder};
pub use s3::TestS3;
pub use sample_extension::sample_extension;
pub use upstream::{TestUpstream, UpstreamEra, UpstreamFault, UpstreamRequest};
