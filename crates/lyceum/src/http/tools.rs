//! Tools over REST: `GET /tools` and `POST /tools/{name}/call`, through the same view as MCP.

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::HeaderMap;
use lyceum_model::{Caller, ErrorCode, Scope, Tier};
use lyceum_tools::{CallContext, Error, Outcome, ToolEntry, View, mcp::JsonObject};
use serde::{Deserialize, Serialize};

use super::{
    ApiError, RequestBody, challenge_denied, read_body,
    route::{BodyLimit, Route},
};
use crate::{
    app::{App, too_late},
    deadline::within,
};

#[derive(Serialize)]
struct ToolList<'a> {
    tools: Vec<ListedTool<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    domain: &'a str,
    required_scopes: &'a [Scope],
    tier: Tier,
    input_schema: &'a JsonObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a JsonObject>,
}

/// The body of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallBody {
    #[serde(default)]
    arguments: JsonObject,
}

/// The routes.
pub(super) fn routes() -> [Route; 2] {
    [Route::get("/tools", list), Route::post("/tools/{name}/call", call).body(BodyLimit::Configured)]
}

async fn list(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    let view = View::of_all(app.mcp.hub().registry(), caller);
    Json(ToolList { tools: view.tools().map(listed).collect() }).into_response()
}

async fn call(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let RequestBody { bytes, reservation: _reservation } = read_body(&app, &caller, &headers, body).await?;
    let body: CallBody = if bytes.is_empty() {
        CallBody { arguments: JsonObject::new() }
    } else {
        call_body(&bytes).map_err(|error| invalid_body(&error))?
    };
    let view = View::of_all(app.mcp.hub().registry(), caller);
    let limit = view.deadline_of(&name, app.config.limits.call);
    let work = view.call(&name, body.arguments, CallContext::default());
    match within(limit, work).await.unwrap_or_else(|_| Err(too_late())) {
        Ok(Outcome::Done(result)) => Ok(Json(result).into_response()),
        Ok(Outcome::NeedInput(_)) => {
            let message = "this tool asks for user input; call it over MCP";
            Err(ApiError::new(ErrorCode::ValidationError, message))
        }
        Err(error) => Ok(failed_call(&app, view.caller(), &error)),
    }
}

/// The response to a failed call. If the gate refused it, `WWW-Authenticate` lists the scopes to request.
pub(crate) fn failed_call(app: &App, caller: &Caller, error: &Error) -> Response {
    let mut response = ApiError::from(error).into_response();
    if let Error::Denied(denied) = error {
        challenge_denied(app, &mut response, "/mcp", caller, denied);
    }
    response
}

fn listed(tool: &ToolEntry) -> ListedTool<'_> {
    let spec = tool.spec();
    ListedTool {
        name: &spec.name,
        title: &spec.title,
        description: &spec.description,
        domain: spec.access.domain.as_str(),
        required_scopes: &spec.access.scopes,
        tier: spec.access.tier,
        input_schema: &spec.input_schema,
        output_schema: spec.output_schema.as_ref(),
    }
}

fn invalid_body(error: &serde_json::Error) -> ApiError {
    let message = format!("the body must be JSON of the form {{\"arguments\": {{…}}}}: {error}");
    ApiError::new(ErrorCode::ValidationError, message)
}

/// Parsed as an object first: a derived deserializer would also accept an array of the values.
fn call_body(bytes: &[u8]) -> serde_json::Result<CallBody> {
    let object: JsonObject = serde_json::from_slice(bytes)?;
    CallBody::deserialize(serde_json::Value::Object(object))
}
