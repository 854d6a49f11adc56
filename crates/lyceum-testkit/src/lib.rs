//! Development only: the fixtures that tests, the conformance suite and the benchmark are run against.

mod fixture;
mod git_server;
mod letters;

pub use fixture::fixture_hub;
pub use git_server::{Answers, GitServer, TestRepository};
pub use letters::letters;
