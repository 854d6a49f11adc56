//! Endpoints that call a tool of the knowledge base: the tool checks permissions and arguments.

use std::sync::Arc;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header};
use lyceum_model::{Caller, ErrorCode};
use lyceum_tools::{CallContext, Error, Outcome, View, mcp::JsonObject};

use super::Api;
use crate::http::{ApiError, failed_call};

/// Calls a tool and responds with its structured result.
pub(super) async fn call_tool(
    api: Api,
    caller: Arc<Caller>,
    name: &str,
    arguments: JsonObject,
) -> Result<Response, ApiError> {
    let app = &api.app;
    let view = View::of_all(app.mcp.hub().registry(), caller);
    let tool = api.base.prefix.of(name);
    if !view.has_tool(&tool) {
        let message = format!("{name} is not enabled on this server");
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    let work = view.call(&tool, arguments, CallContext::default());
    let outcome = match app.within_limit(work).await {
        Err(error @ Error::Denied(_)) => return Ok(failed_call(app, view.caller(), &error)),
        outcome => outcome.map_err(|error| super::failed(&error))?,
    };
    let result = match outcome {
        Outcome::Done(result) => result.structured_content(),
        Outcome::NeedInput(_) => None,
    };
    let Some(result) = result else {
        return Err(ApiError::new(ErrorCode::InternalError, "the tool returned no result"));
    };
    let mut response = Json(result).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
