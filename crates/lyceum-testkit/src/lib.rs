//! Development only: the fixtures that tests, the conformance suite and the benchmark are run against.

mod fixture;

pub use fixture::fixture_hub;
