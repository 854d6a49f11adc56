//! The clients of others go the whole way of OAuth to a tool that is for members.
//!
//! A person is played by `tests/peers/signed_in`: opens the page that a client asks for and enters a key there. Each
//! check fails if the client got by without that: the tool is refused first, and the record must have the sign-in.

mod claude;
mod conformance;
mod inspector;
mod mcp_remote;
mod scene;
mod sdk;

use serde_json::{Value, json};

pub(super) use claude::claude_code;
pub(super) use conformance::authorization;
pub(super) use inspector::inspector;
pub(super) use mcp_remote::mcp_remote;
pub(super) use sdk::{python, typescript};

/// A tool for members.
const TOOL: &str = "get_document";

/// What is in the document that is asked for, and nowhere else.
const SECRET: &str = "Only members are told where it lies: below the mat.";

/// The arguments that ask for it.
fn arguments() -> Value {
    json!({ "contentType": "pattern", "id": "the-key" })
}
