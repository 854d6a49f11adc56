//! Domain types shared by all crates.
//!
//! No I/O, no clock, no randomness, no async: every other crate, and builds for the edge, can use these types.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod access;
mod caller;
mod credential;
mod error_code;
mod public_address;
mod rel_path;
mod right;
mod slug;
mod tier;

pub use access::Access;
pub use caller::Caller;
pub use credential::Credential;
pub use error_code::ErrorCode;
pub use public_address::is_public_address;
pub use rel_path::{InvalidPath, RelPath};
pub use right::{KNOWLEDGE_READ, MCP_READ, Right, Rights};
pub use slug::{Domain, InvalidSlug, Scope, SourceName};
pub use tier::Tier;

#[cfg(test)]
mod tests;
