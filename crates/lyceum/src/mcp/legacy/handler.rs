//! One session of an earlier protocol version: each request runs over the view of its caller.

#![expect(deprecated, reason = "earlier protocol versions still have subscriptions and log levels")]

use std::{
    borrow::Cow,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lyceum_model::{Caller, ErrorCode};
use lyceum_tools::{
    CallContext, Error, Input, LogLevel, Notices, Outcome, View,
    mcp::{self, Mcp, error_data},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
        CustomResult, Extensions, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
        InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde::Deserialize;
use serde_json::Value;
use tracing::{Instrument, Span};

use super::{super::McpContext, elicit::elicit, subscriptions::Subscriptions};
use crate::{
    app::too_late,
    deadline::within,
    tasks::Tasks,
    telemetry::{Metrics, Operation, span},
};

/// Maximum number of elicitation rounds of one call.
const MAX_ELICITATION_ROUNDS: usize = 8;

/// What all sessions share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub mcp: Mcp,
    pub metrics: Metrics,
    pub tasks: Tasks,
    /// Timeout of one call.
    pub limit: Duration,
    /// The caller if the transport does not authenticate: over stdio, the user of the machine.
    pub caller: Arc<Caller>,
}

/// One session.
#[derive(Clone)]
pub(in crate::mcp) struct Session {
    pub(super) shared: Shared,
    state: Arc<Mutex<State>>,
}

pub(super) struct State {
    log_level: LogLevel,
    pub(super) subscriptions: Subscriptions,
    /// Whether the client has sent `notifications/initialized`.
    is_initialized: bool,
}

impl Session {
    pub(in crate::mcp) fn new(shared: Shared) -> Self {
        let subscriptions = Subscriptions::new(shared.mcp.budget().hold());
        let state = State { log_level: LogLevel::Info, subscriptions, is_initialized: false };
        Self { shared, state: Arc::new(Mutex::new(state)) }
    }

    /// The view of the caller of this request: caller and service come with each request, not with the session.
    fn view(&self, extensions: &Extensions) -> Result<View, ErrorData> {
        let registry = self.shared.mcp.hub().registry();
        let parts = extensions.get::<http::request::Parts>();
        match parts.and_then(|parts| parts.extensions.get::<McpContext>()) {
            None => Ok(View::of_all(registry, self.shared.caller.clone())),
            Some(McpContext { caller, service: None, .. }) => Ok(View::of_all(registry, caller.clone())),
            Some(McpContext { caller, service: Some(service), .. }) => {
                View::of_service(registry, caller.clone(), service.as_str())
                    .ok_or_else(|| ErrorData::invalid_request("this service is no longer available", None))
            }
        }
    }

    /// The span of the HTTP request that carried this message; over stdio, a new one.
    fn span(&self, context: &RequestContext<RoleServer>) -> Span {
        let parts = context.extensions.get::<http::request::Parts>();
        let request = parts.and_then(|parts| parts.extensions.get::<McpContext>());
        request
            .map_or_else(|| span::of_message(&context.id.to_string(), None), |request| request.span.clone())
    }

    pub(super) fn with_state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a call: forwards its notifications, sends its requests for input, and limits its time.
    async fn run<T, W>(
        &self,
        context: &RequestContext<RoleServer>,
        limit: Duration,
        work: impl Fn(CallContext) -> W,
    ) -> Result<T, ErrorData>
    where
        W: Future<Output = Result<Outcome<T>, Error>>,
    {
        let level = self.with_state(|state| state.log_level);
        let (notices, mut receiver) = Notices::requested(context.meta.get_progress_token(), Some(level));
        let client = context.client_capabilities().unwrap_or_default();
        let rounds = async move {
            let mut input = Input::default();
            for _ in 0..MAX_ELICITATION_ROUNDS {
                let call = CallContext { client: client.clone(), input, notices: notices.clone() };
                let outcome = within(limit, work(call)).await;
                match outcome.unwrap_or_else(|_| Err(too_late())).map_err(|error| error_data(&error))? {
                    Outcome::Done(result) => return Ok(result),
                    Outcome::NeedInput(need) => {
                        need.check(&client).map_err(error_data_of)?;
                        let state = need.state.clone();
                        input = Input { answers: elicit(&context.peer, need).await?, state };
                    }
                }
            }
            Err(ErrorData::internal_error("the call requested user input too often", None))
        };
        let forwarding = async {
            if let Some(receiver) = &mut receiver {
                while let Some(notice) = receiver.recv().await {
                    let _client_may_be_gone =
                        context.peer.send_notification(notice.into_notification()).await;
                }
            }
            std::future::pending::<()>().await;
        };
        let result = tokio::select! {
            result = rounds => result,
            () = forwarding => Err(ErrorData::internal_error("the notification channel closed before the call ended", None)),
            () = context.ct.cancelled() => Err(ErrorData::invalid_request("the request was cancelled", None)),
        };
        // Notifications that were sent before the result must arrive before it. Closing the channel keeps a leftover
        // clone of the call from sending more, or delaying the response.
        if let Some(receiver) = &mut receiver {
            receiver.close();
            while let Ok(notice) = receiver.try_recv() {
                let _client_may_be_gone = context.peer.send_notification(notice.into_notification()).await;
            }
        }
        result
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let identity = self.shared.mcp.identity();
        let anyone = View::of_all(self.shared.mcp.hub().registry(), self.shared.caller.clone());
        let mut info = ServerConfig::new(self.shared.mcp.capabilities(&anyone));
        info.server_info = identity.implementation.clone();
        info.instructions = self.shared.mcp.instructions(anyone.caller());
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        mcp::SUPPORTED_VERSIONS.into_iter().filter(super::super::is_older).collect()
    }

    /// Initializes the session, with the extensions and instructions of what this caller may use.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let view = self.view(&context.extensions)?;
        let mut result = self.negotiate_initialize(&request)?;
        result.capabilities = self.shared.mcp.capabilities(&view);
        result.instructions = self.shared.mcp.instructions(view.caller());
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result =
            mcp::list_tools(&self.view(&context.extensions)?, cursor(&request)).map_err(error_data_of)?;
        for tool in &mut result.tools {
            // Before 2026-07-28 a structured result could only be an object.
            tool.output_schema.take_if(|schema| schema.get("type").is_none_or(|kind| kind != "object"));
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let view = self.view(&context.extensions)?;
        let (name, arguments) = (request.name, request.arguments.unwrap_or_default());
        let span = self.span(&context);
        let operation = span.in_scope(|| Operation::begin(&view, "tools/call", Some(&name)));
        let limit = view.deadline_of(&name, self.shared.limit);
        let work = |call| {
            let outcome = mcp::call_tool(&view, &name, arguments.clone(), call);
            async move {
                match outcome.await? {
                    Outcome::Done(result) => result.decode().map(Outcome::Done),
                    Outcome::NeedInput(need) => Ok(Outcome::NeedInput(need)),
                }
            }
        };
        let result = self.run(&context, limit, work).instrument(span).await;
        let error_type = match &result {
            Err(_) => "protocol_error",
            Ok(result) if result.is_error == Some(true) => "tool_error",
            Ok(_) => "",
        };
        operation.finish(&self.shared.metrics, error_type);
        let mut result = result?;
        result.structured_content.take_if(|content| !content.is_object());
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        mcp::list_resources(&self.view(&context.extensions)?, cursor(&request)).map_err(error_data_of)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        mcp::list_templates(&self.view(&context.extensions)?, cursor(&request)).map_err(error_data_of)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let view = self.view(&context.extensions)?;
        let work = |call| mcp::read_resource(&view, &request.uri, call);
        let result = self.run(&context, self.shared.limit, work).instrument(self.span(&context)).await;
        let mut result = result.map_err(with_legacy_code)?;
        // Before 2026-07-28 there was no cache metadata.
        (result.ttl_ms, result.cache_scope) = (None, None);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        mcp::list_prompts(&self.view(&context.extensions)?, cursor(&request)).map_err(error_data_of)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let view = self.view(&context.extensions)?;
        let arguments = request.arguments.unwrap_or_default();
        let work = |call| mcp::get_prompt(&view, &request.name, arguments.clone(), call);
        let result = self.run(&context, self.shared.limit, work).instrument(self.span(&context)).await;
        result.map(GetPromptResponse::from)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        mcp::complete(&self.view(&context.extensions)?, &request).map_err(error_data_of)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let level =
            serde_json::to_value(request.level).ok().and_then(|level| LogLevel::deserialize(level).ok());
        let level = level.ok_or_else(|| ErrorData::invalid_params("level: unknown log level", None))?;
        self.with_state(|state| state.log_level = level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.view(&context.extensions)?.has_resource(&request.uri) {
            let uri = mcp::printable(&request.uri);
            return Err(with_legacy_code(error_data_of(Error::ResourceNotFound { uri })));
        }
        self.with_state(|state| state.subscriptions.add(request.uri)).map_err(error_data_of)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.with_state(|state| state.subscriptions.remove(&request.uri));
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let (view, method) = (self.view(&context.extensions)?, request.method);
        if !view.has_method(&method) {
            let text = format!("unknown method {:?}", mcp::printable(&method));
            return Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, text, None));
        }
        let params = match request.params {
            None | Some(Value::Null) => JsonObject::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(ErrorData::invalid_params("params: must be an object", None)),
        };
        let work =
            async |call| mcp::call_method(&view, &method, params.clone(), call).await.map(Outcome::Done);
        let result = self.run(&context, self.shared.limit, work).instrument(self.span(&context)).await;
        result.map(|result| CustomResult::new(Value::Object(result)))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client may send this notification more than once.
        if self.with_state(|state| !std::mem::replace(&mut state.is_initialized, true)) {
            let session = self.clone();
            self.shared.tasks.spawn(async move { session.notify_changes(context.peer).await });
        }
    }
}

fn cursor(request: &Option<PaginatedRequestParams>) -> Option<&str> {
    request.as_ref().and_then(|request| request.cursor.as_deref())
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn error_data_of(error: Error) -> ErrorData {
    error_data(&error)
}

/// Earlier versions have a code of their own for an unknown resource.
fn with_legacy_code(mut error: ErrorData) -> ErrorData {
    let code = error.data.as_ref().and_then(|data| data.get("error_code")).and_then(|code| code.as_str());
    if code == Some(ErrorCode::NotFound.as_str()) {
        error.code = rmcp::model::ErrorCode::RESOURCE_NOT_FOUND;
    }
    error
}
