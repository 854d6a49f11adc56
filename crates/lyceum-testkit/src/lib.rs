//! Development only: the fixtures that tests, the conformance suite and the benchmark are run against.

mod chain;
mod dice;
mod fixture;
mod git_server;
mod github;
mod model_folder;
mod sample_extension;
mod serving;

pub use chain::{ChainAnswers, TestChain};
pub use dice::Dice;
pub use fixture::fixture_hub;
pub use git_server::{Answers, Checkout, Delivery, GitServer, Outcome, TestRepository, signature};
pub use github::TestGitHub;
pub use model_folder::{float_model_folder, model_folder};
pub use sample_extension::sample_extension;
