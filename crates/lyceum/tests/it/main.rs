//! End-to-end tests: the real server on its own port, over the wire.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests start what they test; one that meets the unexpected must fail, and JSON is read by index"
)]

mod app;
mod bad_input;
mod commands;
mod connect;
mod doors;
mod errors;
mod eval;
mod gateway;
mod knowledge;
mod library;
mod lint;
mod nodes;
mod process;
mod services;
mod sessions;
mod shutdown;
mod sign_in;
mod skills;
mod stdio;
mod trust;
