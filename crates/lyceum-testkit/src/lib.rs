//! Development only: the fixtures that tests, the conformance suite and the benchmark are run against.

mod fixture;
mod letters;

pub use fixture::fixture_hub;
pub use letters::letters;
