//! The Model Context Protocol over a [`View`](crate::View): request in, reply out, without I/O.
//!
//! [`Mcp::dispatch`] serves MCP 2026-07-28 ("modern", stateless). Earlier versions are served by sessions in
//! `lyceum::mcp`, over the same functions. The message types are `rmcp`'s; only this module and `lyceum::mcp` name
//! that crate.

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
pub use mirror::{ArgumentHeaders, Header, Mirror, encode as encode_header};
pub use notice::Notice;
pub use reply::{Message, MessageResult, Reply};
pub use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResult, ClientCapabilities, CompleteRequestParams,
    CompleteResult, ContentBlock, ElicitRequestParams, ElicitResult, ErrorCode as RpcCode, ErrorData,
    GetPromptRequestParams, GetPromptResult, Implementation, InputRequest, JsonObject, MetaObject,
    ProgressToken, Prompt as WirePrompt, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResult, RequestId, Resource as WireResource, ResourceContents,
    ResourceTemplate, Role, Tool as WireTool,
};
pub use seal::Seal;
pub use server::{Identity, Instructions, Mcp};
pub use verbs::{
    call_method, call_tool, complete, get_prompt, list_prompts, list_resources, list_templates, list_tools,
    read_resource,
};

pub(crate) use mirror::MirroredArgument;
pub(crate) use wire::{describe, require, wire_tool};

/// Supported protocol versions, newest first.
pub const SUPPORTED_VERSIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2026_07_28,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
];

/// The protocol version that needs no session.
pub const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;
