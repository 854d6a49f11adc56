//! Third-party clients go through the whole OAuth flow, to a tool for members.
//!
//! Scripts in `tests/peers/signed_in` act as the user: they open the URL of the client and enter a key. Each check
//! fails if the client gets by without that: the tool is refused first, and the audit log must contain the sign-in.

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

/// The content of the requested document, which is nowhere else.
const SECRET: &str = "Only members are told where it lies: below the mat.";

/// The arguments of the call.
fn arguments() -> Value {
    json!({ "contentType": "pattern", "id": "the-key" })
}
