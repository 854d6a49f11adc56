//! What callers see and what calls return, through dispatch without a transport.
//!
//! Each test builds a registry, connects a [`Client`] to it, and checks the messages that come back.

mod arguments;
mod audit;
mod changes;
mod errors;
mod extensions;
mod gate;
mod joining;
mod messages;
mod mirror;
mod notices;
mod pages;
mod panics;
mod prompts;
mod protocol;
mod questions;
mod registering;
mod relayed;
mod resources;
mod schemas;
mod states;
mod templates;

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use lyceum_model::{Access, Caller, Domain, Scope, Tier};
use serde_json::{Value, json};

use crate::{
    Call, Effect, Error, Faults, Hub, Outcome, PromptEntry, Registry, RegistryError, ResourceEntry,
    TemplateEntry, ToolEntry, ToolSpec, View,
    mcp::{
        CallToolResult, ContentBlock, GetPromptResult, Identity, Implementation, Incoming, Instructions,
        JsonObject, Mcp, Message, PromptMessage, ReadResourceResult, Reply, Request, ResourceContents,
        ResourceTemplate, Role, Seal, WirePrompt, WireResource,
    },
};

/// The service of every entry, unless a test says otherwise.
const SHELF: Domain = Domain::from_static("shelf");

/// The result of a tool.
type ToolResult = Result<Outcome<CallToolResult>, Error>;

/// A client that speaks MCP 2026-07-28.
struct Client {
    mcp: Mcp,
    caller: Arc<Caller>,
    meta: JsonObject,
}

impl Client {
    /// An anonymous client of a server with this registry.
    fn of(registry: Registry) -> Self {
        let implementation = Implementation::new("lyceum", "0.0.0");
        let instructions = [
            Instructions::new(Access::public(SHELF), || "Read the labels.".to_owned()),
            Instructions::new(access(Tier::Member, &["shelf:read"]), || "Members take a key.".to_owned()),
        ];
        let identity = Identity { implementation, instructions: instructions.to_vec() };
        let mcp = Mcp::new(Arc::new(Hub::new(registry)), identity, Seal::new([7; 32]));
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Self { mcp, caller: Arc::new(Caller::anonymous()), meta: object(meta) }
    }

    /// Another caller of the same server.
    fn called_by(&self, caller: Caller) -> Self {
        Self { mcp: self.mcp.clone(), caller: Arc::new(caller), meta: self.meta.clone() }
    }

    /// Adds a field to `_meta` of every request.
    fn saying(mut self, key: &str, value: Value) -> Self {
        self.meta.insert(key.to_owned(), value);
        self
    }

    fn hub(&self) -> &Hub {
        self.mcp.hub()
    }

    fn view(&self) -> View {
        View::of_all(self.hub().registry(), self.caller.clone())
    }

    fn request(&self, method: &str, params: Value) -> Box<Request> {
        let mut params = object(params);
        params.entry("_meta").or_insert_with(|| Value::Object(self.meta.clone()));
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        match Incoming::parse(message.to_string().as_bytes()) {
            Ok(Incoming::Request(request)) => request,
            other => panic!("{message} was parsed as {other:?}"),
        }
    }

    async fn reply(&self, method: &str, params: Value) -> Reply {
        self.mcp.dispatch(self.view(), self.request(method, params), None).await
    }

    /// Encodes and parses a message, as the client sees it.
    fn read(&self, message: Message) -> Value {
        serde_json::from_slice(&self.mcp.encode(message)).unwrap()
    }

    /// All messages of the reply.
    async fn messages(&self, method: &str, params: Value) -> Vec<Value> {
        match self.reply(method, params).await {
            Reply::Refused(message) | Reply::One(message) => vec![self.read(*message)],
            Reply::Stream(messages) => messages.map(|message| self.read(message)).collect().await,
        }
    }

    /// The only message of the reply: its result, or the error.
    async fn ask(&self, method: &str, params: Value) -> Value {
        let messages = self.messages(method, params).await;
        assert_eq!(messages.len(), 1, "{messages:?}");
        answer_in(&messages[0])
    }

    /// The text of a tool result, or the message of the error.
    async fn call(&self, name: &str, arguments: Value) -> String {
        said_in(&self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await)
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

/// The result without `serverInfo`, or the error.
fn answer_in(message: &Value) -> Value {
    let Some(result) = message.get("result") else { return json!({ "error": message["error"] }) };
    let mut result = object(result.clone());
    let meta = result.get_mut("_meta").and_then(Value::as_object_mut).unwrap();
    meta.remove("io.modelcontextprotocol/serverInfo").unwrap();
    if meta.is_empty() {
        result.remove("_meta");
    }
    Value::Object(result)
}

fn said_in(answer: &Value) -> String {
    let text = answer["content"][0]["text"].as_str().or_else(|| answer["error"]["message"].as_str());
    text.unwrap_or_else(|| panic!("{answer} has no text")).to_owned()
}

fn access(tier: Tier, scopes: &[&str]) -> Access {
    let scopes = scopes.iter().map(|scope| Scope::parse(scope).unwrap()).collect();
    Access { domain: SHELF, tier, scopes }
}

/// A public tool that accepts any arguments.
fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: "For a test.".to_owned(),
        access: Access::public(SHELF),
        input_schema: object(json!({ "type": "object" })),
        output_schema: None,
        effect: Effect::Reads,
        faults: Faults::InResult,
    }
}

/// A tool that returns `done`.
fn tool(spec: ToolSpec) -> ToolEntry {
    working(spec, |_| said("done"))
}

/// A synchronous tool without arguments.
fn working(spec: ToolSpec, work: impl Fn(&Call) -> ToolResult + Send + Sync + 'static) -> ToolEntry {
    let work = Arc::new(work);
    ToolEntry::new(spec, move |call, _| {
        let work = work.clone();
        async move { work(&call) }.boxed()
    })
    .unwrap()
}

fn said(text: impl Into<String>) -> ToolResult {
    Ok(Outcome::Done(CallToolResult::success(vec![ContentBlock::text(text)])))
}

/// A resource whose content is its URI.
fn resource(access: Access, uri: &str) -> ResourceEntry {
    ResourceEntry::new(access, WireResource::new(uri, "a resource"), |_, address| async move {
        let contents = ResourceContents::text(address.uri.clone(), address.uri);
        Ok(Outcome::Done(ReadResourceResult::new(vec![contents])))
    })
}

/// A resource template whose content is the values of its variables.
fn family(access: Access, template: &str) -> Result<TemplateEntry, RegistryError> {
    TemplateEntry::new(access, ResourceTemplate::new(template, "a family"), |_, address| async move {
        let contents = ResourceContents::text(json!(address.variables).to_string(), address.uri);
        Ok(Outcome::Done(ReadResourceResult::new(vec![contents])))
    })
}

/// A prompt that renders its arguments.
fn prompt(access: Access, wire: WirePrompt) -> PromptEntry {
    PromptEntry::new(access, wire, |_, arguments| async move {
        let message = PromptMessage::new_text(Role::User, format!("{arguments:?}"));
        Ok(Outcome::Done(GetPromptResult::new(vec![message])))
    })
}

/// A registry with only those tools.
fn tools(entries: impl IntoIterator<Item = ToolEntry>) -> Registry {
    let builder = entries.into_iter().fold(Registry::builder(), |all, tool| all.tool_entry(tool).unwrap());
    builder.build()
}
