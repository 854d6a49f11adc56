//! Dispatch of MCP 2026-07-28: a request carries all its context, so that dispatch is a function of it.

use std::collections::BTreeMap;

use futures::FutureExt;
use lyceum_model::Caller;
use rmcp::model::{
    CacheScope, ClientCapabilities, CompleteRequestParams, ErrorData, InputRequiredResult, JsonObject,
    PaginatedRequestParams, ProtocolVersion, ServerResult, SubscriptionsListenRequestParams,
};
use serde_json::Value;

use super::{
    MODERN, Mcp, MessageResult, Mirror, Reply, Request, SUPPORTED_VERSIONS, error_data, extend,
    reply::{message, tool_result},
    seal::Binding,
    verbs,
};
use crate::{CallContext, Error, Input, NeedInput, Notices, Outcome, View, mcp::listen};

/// How long clients may cache a list; subscribers are notified of changes.
const LIST_TTL_MS: u64 = 60_000;

/// How long clients may cache a resource that sets no TTL itself: not at all.
const READ_TTL_MS: u64 = 0;

impl Mcp {
    /// Dispatches one request of MCP 2026-07-28. Over HTTP its headers must match its body.
    pub async fn dispatch(&self, view: View, request: Box<Request>, mirror: Option<&Mirror<'_>>) -> Reply {
        if let Err(error) = check(&view, &request, mirror) {
            return Reply::refused(error, Some(request.id));
        }
        match request.method.as_str() {
            "subscriptions/listen" => self.listen(&view, request),
            "tools/call" | "prompts/get" | "resources/read" => self.run(view, request).await,
            "server/discover"
            | "tools/list"
            | "resources/list"
            | "resources/templates/list"
            | "prompts/list"
            | "completion/complete" => {
                let id = request.id.clone();
                Reply::One(Box::new(message(self.list(&view, request).map(MessageResult::from), id)))
            }
            method if view.has_method(method) => self.run(view, request).await,
            method => Reply::refused(no_method(method), Some(request.id)),
        }
    }

    fn listen(&self, view: &View, mut request: Box<Request>) -> Reply {
        match request.take_params::<SubscriptionsListenRequestParams>() {
            Ok(params) => {
                let wanted = params.notifications.supported_by(&self.capabilities(view));
                match listen::listen(self, view, wanted, request.id.clone()) {
                    Ok(messages) => Reply::Stream(messages),
                    Err(error) => Reply::One(Box::new(message(Err(error_data(&error)), request.id))),
                }
            }
            Err(error) => Reply::refused(error, Some(request.id)),
        }
    }

    /// Serves the methods that need no waiting: discovery, lists, completion.
    fn list(&self, view: &View, mut request: Box<Request>) -> Result<ServerResult, ErrorData> {
        let scope = cache_scope(view);
        let method = std::mem::take(&mut request.method);
        Ok(match method.as_str() {
            "server/discover" => {
                self.discover(view).with_ttl_ms(list_ttl_ms(view)).with_cache_scope(scope).into()
            }
            "completion/complete" => {
                let params: CompleteRequestParams = request.take_params()?;
                verbs::complete(view, &params).map_err(|error| error_data(&error))?.into()
            }
            list => {
                let cursor = request.take_params::<PaginatedRequestParams>()?.cursor;
                list_page(view, list, cursor.as_deref(), scope).map_err(|error| error_data(&error))?
            }
        })
    }

    /// Runs a call, with progress and log notifications if the client asked for them.
    async fn run(&self, view: View, request: Box<Request>) -> Reply {
        let (notices, receiver) =
            Notices::requested(request.meta.progress_token.clone(), request.meta.log_level);
        let id = request.id.clone();
        let Some(receiver) = receiver else {
            return Reply::One(Box::new(message(self.run_method(&view, request, notices).await, id)));
        };
        let mcp = self.clone();
        let work = async move { message(mcp.run_method(&view, request, notices).await, id) };
        Reply::of_call(work.boxed(), receiver).await
    }

    async fn run_method(
        &self,
        view: &View,
        mut request: Box<Request>,
        notices: Notices,
    ) -> Result<MessageResult, ErrorData> {
        if !matches!(request.method.as_str(), "tools/call" | "prompts/get" | "resources/read") {
            return extend::call_method(view, request, notices).await.map(MessageResult::from);
        }
        let client = request.meta.client.take().unwrap_or_default();
        let params = CallParams::of(&mut request)?;
        let bound_to = Binding::new(&request.method, &params.name, &params.arguments);
        let state = params
            .state
            .as_deref()
            .map(|sealed| self.seal.open(sealed, view.caller(), &bound_to))
            .transpose()?;
        let input = Input { answers: params.answers, state };
        let context = CallContext { client: client.clone(), input, notices };
        let outcome = match request.method.as_str() {
            "tools/call" => {
                let outcome = verbs::call_tool(view, &params.name, params.arguments, context).await;
                outcome.map(|outcome| outcome.map(tool_result))
            }
            "prompts/get" => verbs::get_prompt(view, &params.name, params.arguments, context).await.map(done),
            _ => verbs::read_resource(view, &params.name, context).await.map(|outcome| {
                done(outcome.map(|mut result| {
                    result.ttl_ms.get_or_insert(READ_TTL_MS);
                    result.cache_scope.get_or_insert_with(|| cache_scope(view));
                    result
                }))
            }),
        };
        match outcome.map_err(|error| error_data(&error))? {
            Outcome::Done(result) => Ok(result),
            Outcome::NeedInput(need) => self
                .request_input(need, &client, view.caller(), &bound_to)
                .map(MessageResult::from)
                .map_err(|error| error_data(&error)),
        }
    }

    /// Asks the client for input, if its capabilities allow it.
    fn request_input(
        &self,
        need: NeedInput,
        client: &ClientCapabilities,
        caller: &Caller,
        bound_to: &Binding,
    ) -> Result<ServerResult, Error> {
        need.check(client)?;
        let state = need.state.map(|state| self.seal.close(&state, caller, bound_to)).transpose()?;
        let requests = (!need.requests.is_empty()).then_some(need.requests);
        Ok(InputRequiredResult::new(requests, state).into())
    }
}

/// The common parameters of `tools/call`, `prompts/get` and `resources/read`.
struct CallParams {
    name: String,
    arguments: JsonObject,
    answers: BTreeMap<String, Value>,
    state: Option<String>,
}

impl CallParams {
    fn of(request: &mut Request) -> Result<Self, ErrorData> {
        let field = if request.method == "resources/read" { "uri" } else { "name" };
        let params = &mut request.params;
        let name = text(params, field)?
            .ok_or_else(|| ErrorData::invalid_params(format!("params.{field}: is missing"), None))?;
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => JsonObject::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(ErrorData::invalid_params("params.arguments: must be an object", None)),
        };
        let answers = match params.remove("inputResponses") {
            None | Some(Value::Null) => BTreeMap::new(),
            Some(Value::Object(answers)) => answers.into_iter().collect(),
            Some(_) => {
                return Err(ErrorData::invalid_params("params.inputResponses: must be an object", None));
            }
        };
        Ok(Self { name, arguments, answers, state: text(params, "requestState")? })
    }
}

/// Takes an optional string parameter.
fn text(params: &mut JsonObject, field: &str) -> Result<Option<String>, ErrorData> {
    match params.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(ErrorData::invalid_params(format!("params.{field}: must be a string"), None)),
    }
}

fn list_page(
    view: &View,
    method: &str,
    cursor: Option<&str>,
    scope: CacheScope,
) -> Result<ServerResult, Error> {
    Ok(match method {
        "tools/list" => {
            verbs::list_tools(view, cursor)?.with_ttl_ms(list_ttl_ms(view)).with_cache_scope(scope).into()
        }
        "resources/list" => {
            verbs::list_resources(view, cursor)?.with_ttl_ms(list_ttl_ms(view)).with_cache_scope(scope).into()
        }
        "resources/templates/list" => {
            verbs::list_templates(view, cursor)?.with_ttl_ms(list_ttl_ms(view)).with_cache_scope(scope).into()
        }
        _ => verbs::list_prompts(view, cursor)?.with_ttl_ms(list_ttl_ms(view)).with_cache_scope(scope).into(),
    })
}

/// How long a client may cache a list. Not at all for an anonymous caller, who sees another list after signing in.
fn list_ttl_ms(view: &View) -> u64 {
    if view.caller().is_anonymous() { 0 } else { LIST_TTL_MS }
}

/// Who may cache a response made from this view.
fn cache_scope(view: &View) -> CacheScope {
    if view.is_public() { CacheScope::Public } else { CacheScope::Private }
}

/// All checks before the method runs, in the order that the specification's errors imply.
fn check(view: &View, request: &Request, mirror: Option<&Mirror<'_>>) -> Result<(), ErrorData> {
    let missing = request.meta.missing();
    if !missing.is_empty() {
        let text = format!("params._meta: must carry {}", missing.join(" and "));
        return Err(ErrorData::invalid_params(text, None));
    }
    let version = request.version().unwrap_or_default();
    mirror.map_or(Ok(()), |mirror| mirror.check_version(version))?;
    if version != MODERN.as_str() {
        return Err(unsupported(version));
    }
    mirror.map_or(Ok(()), |mirror| mirror.check_names(request))?;
    if let (Some(mirror), "tools/call") = (mirror, request.method.as_str())
        && let Some(tool) = request.name().and_then(|name| view.tool(name))
    {
        mirror.check_arguments(request, tool.mirrored())?;
    }
    Ok(())
}

fn no_method(method: &str) -> ErrorData {
    let text = format!("unknown method {:?} in MCP {MODERN}", printable(method));
    ErrorData::new(super::RpcCode::METHOD_NOT_FOUND, text, None)
}

/// The error that lists the supported versions.
pub fn unsupported(version: &str) -> ErrorData {
    let supported: Vec<&str> = SUPPORTED_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let data = serde_json::json!({ "requested": printable(version), "supported": supported });
    ErrorData::new(super::RpcCode::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", Some(data))
}

/// Truncates caller input so that it can be sent back.
pub fn printable(text: &str) -> String {
    text.chars().take(100).collect()
}

fn done<T: Into<ServerResult>>(outcome: Outcome<T>) -> Outcome<MessageResult> {
    outcome.map(MessageResult::from)
}
