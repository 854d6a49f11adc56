//! Integration tests: runs misbehaving scripts.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests start what they test; one that meets the unexpected must fail, and JSON is read by index"
)]
#![cfg(target_os = "linux")]

mod arguments;
mod lifetime;
mod limits;
mod network;
mod peers;
mod probes;
mod refusals;
mod runners;
mod stage;
mod workspace;
