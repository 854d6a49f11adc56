//! The tool registry: tools, resources, prompts and extensions; the gate that checks permissions; and MCP dispatch
//! over both.
//!
//! Nothing here knows HTTP or starts a task, so the same code can run in a process or at the edge. Only `mcp/seal.rs`
//! reads a clock: it checks the expiry of request state against the system clock.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests spawn tasks and sleep"))]

mod audit;
mod budget;
mod builtin;
mod call;
mod error;
mod extension;
mod fields;
mod gate;
mod hub;
mod input;
pub mod mcp;
mod page;
mod prefix;
mod prompt;
mod registry;
mod relayed;
mod resource;
mod schema;
mod template;
mod tool;
mod view;

pub use audit::{AuditEvent, AuditSink, NotRecorded, Recorded, WriteOutcome};
pub use budget::{BudgetExceeded, ByteBudget, ByteReservation};
pub use builtin::{ServerFacts, ServerInfo, UpstreamStatus};
pub use call::{Call, CallContext, LogLevel, Notices};
pub use error::{Error, RegistryError};
pub use extension::{ExtensionEntry, Merge, MethodEntry};
pub use fields::{FieldFault, read_fields, read_object};
pub use gate::{Denied, permit};
pub use hub::{Change, Hub};
pub use input::{Input, NeedInput, Outcome};
pub use page::{InvalidCursor, Page};
pub use prefix::{InvalidPrefix, Prefix};
pub use prompt::PromptEntry;
pub use registry::{Registry, RegistryBuilder};
pub use relayed::{InvalidResult, RelayedResult, ToolResult};
pub use resource::{Address, ResourceEntry, TemplateEntry};
pub use schema::{InvalidSchema, SchemaValidator, schema_of};
pub use tool::{Effect, Faults, Tool, ToolEntry, ToolSpec};
pub use view::View;

#[cfg(test)]
mod tests;
