//! Tools of every deployment.

mod server_info;

pub use server_info::{ServerFacts, ServerInfo, UpstreamStatus};
