//! The Model Context Protocol over a [`View`](crate::View): pure dispatch, `request in, reply out`.
//!
//! The modern era (2026-07-28, stateless) is answered here, by [`Mcp::answer`]. The older eras are spoken by a
//! session in the door, over the same verbs. The message types are `rmcp`'s; only this module, the door's `mcp`
//! and the upstream client name that crate.

mod dispatch;
mod encode;
mod error;
mod extend;
mod listen;
mod message;
mod mirror;
mod notice;
mod reply;
mod seal;
mod server;
mod verbs;
mod wire;

pub use dispatch::{printable, unsupported};
pub use error::{add_code, error_data, failed_result};
pub use message::{Incoming, Meta, Refusal, Request};
pub use mirror::{Header, Mirror};
pub use notice::Notice;
pub use reply::{Message, Reply};
pub use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResult, ClientCapabilities, CompleteRequestParams,
    CompleteResult, ContentBlock, ElicitRequestParams, ElicitResult, ErrorCode as RpcCode, ErrorData,
    GetPromptRequestParams, GetPromptResult, Implementation, InputRequest, JsonObject, MetaObject,
    ProgressToken, Prompt as WirePrompt, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResult, RequestId, Resource as WireResource, ResourceContents,
    ResourceTemplate, Role, Tool as WireTool,
};
pub use seal::Seal;
pub use server::{Identity, Mcp};
pub use verbs::{
    call_tool, complete, get_prompt, list_prompts, list_resources, list_templates, list_tools, perform,
    read_resource,
};

pub(crate) use mirror::MirroredArgument;
pub(crate) use wire::{describe, require, wire_tool};

/// The revisions that are spoken, newest first.
pub const SUPPORTED_VERSIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2026_07_28,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
];

/// The one revision of the modern era.
pub const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;
