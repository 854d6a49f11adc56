//! The tools that every deployment has.

mod server_info;

pub use server_info::{ServerFacts, ServerInfo};
