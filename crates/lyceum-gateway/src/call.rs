//! A tool call to an upstream: the caller's arguments and capabilities in, the raw result out.

use std::collections::BTreeMap;

use lyceum_tools::{
    Call, Error, NeedInput, Outcome, RelayedResult, ToolResult,
    mcp::{InputRequest, JsonObject},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    Fault, ToolErrors,
    catalog::ToolDefinition,
    mcp_http::{McpHttp, Progress, Request},
    upstream::{Client, Upstream},
};

/// A result that asks for input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    #[serde(default)]
    input_requests: BTreeMap<String, InputRequest>,
    request_state: Option<String>,
}

/// The kind of a result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind<'a> {
    #[serde(borrow)]
    result_type: Option<std::borrow::Cow<'a, str>>,
}

impl Upstream {
    /// Calls a tool. The arguments match its schema.
    pub(crate) async fn call_tool(
        &self,
        tool: &ToolDefinition,
        call: &Call,
        arguments: JsonObject,
    ) -> Result<Outcome<ToolResult>, Error> {
        let limit = self.settings.limits.call;
        let work = tokio::time::timeout(limit, self.attempt(tool, call, arguments));
        let outcome = work.await.unwrap_or(Err(Fault::Timeout(limit)));
        outcome.map_err(|fault| {
            let name = &self.settings.name;
            tracing::warn!(upstream = %name, tool = tool.name, reason = fault.reason(), error.cause = %fault, "call to an upstream failed");
            if fault.needs_probe() {
                self.suspect();
            }
            fault.error(name)
        })
    }

    async fn attempt(
        &self,
        tool: &ToolDefinition,
        call: &Call,
        arguments: JsonObject,
    ) -> Result<Outcome<ToolResult>, Fault> {
        if let Some(fault) = self.current_fault() {
            return Err(fault);
        }
        // Waits for its turn, for as long as the call may take.
        let _slot = self.slots.acquire().await.map_err(|_| Fault::Busy)?;
        let result = match &self.client {
            Client::Mcp(client) => match call_mcp(client, tool, call, arguments).await? {
                Outcome::Done(result) => result,
                Outcome::NeedInput(need) => return Ok(Outcome::NeedInput(need)),
            },
            Client::Service(client) => client.call(&tool.name, arguments).await?,
        };
        let result =
            RelayedResult::new(&result).map_err(|_| Fault::Invalid("it is not the result of a tool"))?;
        if result.is_error() {
            return match self.settings.tool_errors {
                ToolErrors::Relay => Ok(Outcome::Done(ToolResult::Relayed(result))),
                ToolErrors::Normalize => Err(Fault::Failed),
            };
        }
        if let Some(schema) = &tool.output {
            let content = result.structured_content().ok_or(Fault::Output)?;
            if !schema.is_valid(&content) {
                return Err(Fault::Output);
            }
        }
        Ok(Outcome::Done(ToolResult::Relayed(result)))
    }
}

async fn call_mcp(
    client: &std::sync::Arc<McpHttp>,
    tool: &ToolDefinition,
    call: &Call,
    arguments: JsonObject,
) -> Result<Outcome<Box<RawValue>>, Fault> {
    let arguments = Value::Object(arguments);
    let headers = tool.headers.of_call(&arguments);
    let mut params = JsonObject::from_iter([
        ("name".to_owned(), Value::from(tool.name.as_str())),
        ("arguments".to_owned(), arguments),
    ]);
    let input = call.input();
    if !input.answers.is_empty() {
        let answers = input.answers.clone().into_iter().collect();
        params.insert("inputResponses".to_owned(), Value::Object(answers));
    }
    // The upstream's state, which travelled inside our seal.
    if let Some(state) = &input.state {
        params.insert("requestState".to_owned(), state.clone());
    }
    // What this caller's client can do, and no more. File system roots are never shown to an upstream.
    let mut capabilities = call.client().clone();
    capabilities.roots = None;
    let relay = |progress: Progress| call.progress(progress.progress, progress.total, progress.message);
    let request = Request {
        client: capabilities,
        headers,
        progress: call.wants_progress().then_some(&relay as _),
        ..Request::new("tools/call", params).named(&tool.name)
    };
    let result = client.request(&request).await?;
    let kind: Kind<'_> =
        serde_json::from_str(result.get()).map_err(|_| Fault::Invalid("it is not a result"))?;
    match kind.result_type.as_deref() {
        None | Some("complete") => Ok(Outcome::Done(result)),
        Some("input_required") => need_input(&result).map(Outcome::NeedInput),
        Some(_) => Err(Fault::Invalid("its result type is unknown")),
    }
}

fn need_input(result: &RawValue) -> Result<NeedInput, Fault> {
    let required: InputRequired = serde_json::from_str(result.get())
        .map_err(|_| Fault::Invalid("its request for input can't be parsed"))?;
    let is_refused = |request: &InputRequest| matches!(request, InputRequest::ListRoots(_));
    if required.input_requests.values().any(is_refused) {
        return Err(Fault::Invalid("it asks for file system roots"));
    }
    Ok(NeedInput { requests: required.input_requests, state: required.request_state.map(Value::String) })
}
