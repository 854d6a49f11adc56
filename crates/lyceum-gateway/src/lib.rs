//! The gateway: tools of upstream MCP servers and HTTP services, offered under our names and our permissions.
//!
//! An upstream gets its own connections, limits and state, so that one that is down, slow or broken affects no other. Its
//! results are relayed as raw JSON; its errors never are.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test"))]

mod call;
mod catalog;
mod fault;
mod http_service;
mod mcp_http;
mod naming;
mod rpc;
mod settings;
mod sse;
mod upstream;

pub use catalog::Skipped;
pub use fault::Fault;
pub use settings::{
    Credential, DeclaredTool, Endpoint, Limits, Protocol, Rule, Settings, ToolErrors, ToolRule,
};
pub use upstream::{State, Upstream};

#[cfg(test)]
mod tests;
