//! `POST /api/v1/sources/{name}/sync`: the tool `refresh_sources`, for an operator with `curl`. The gate decides.

use axum::{
    Json,
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header};
use lyceum_knowledge::Report;
use lyceum_model::ErrorCode;
use lyceum_tools::{
    CallContext, Error, Outcome, View,
    mcp::{CallToolResult, JsonObject},
};
use schemars::JsonSchema;

use super::{
    Api,
    endpoint::{Endpoint, EndpointAccess, Form, Verb, inline, named},
    query::unescaped,
};
use crate::http::{ApiError, failed_call};

/// The tool that does the work.
const TOOL: &str = "refresh_sources";

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Post,
    path: "/api/v1/sources/{name}/sync",
    access: EndpointAccess::OfTool,
    handler: |api, request| Box::pin(refresh(api, request)),
    id: "syncSource",
    summary: "Bring a source up to date now",
    description: "For operators: fetches the source, brings in what changed, and tells what that was. Pages of other \
                  sites can't ask for it.",
    in_path: Some(inline::<Named>),
    in_query: None,
    answers: &[Form { kind: "application/json", schema: named::<Report> }],
    links: &[],
    refusals: &[
        (ErrorCode::ValidationError, "The source can't be read as it is declared."),
        (ErrorCode::NotFound, "No source has this name."),
        (ErrorCode::ScopeMissing, "The caller may not do this; `details` names what is missing."),
        (ErrorCode::UpstreamError, "The source could not be reached."),
        (ErrorCode::Timeout, "It was not done within `limits.call_seconds`; it may still be under way."),
    ],
};

/// What a source is asked for by, for the description.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described; the path is read as it is")]
struct Named {
    /// The name of the source in the configuration.
    name: String,
}

async fn refresh(api: Api, request: Request) -> Result<Response, ApiError> {
    let rest = api.path(&request).strip_prefix(super::OPERATOR).unwrap_or_default();
    let name = &*unescaped(rest.strip_suffix("/sync").unwrap_or_default()).unwrap_or_default();
    let app = &api.app;
    let view = View::of_all(app.mcp.hub().registry(), super::caller_of(&request));
    let arguments = JsonObject::from_iter([("source".to_owned(), name.into())]);
    let tool = api.base.prefix.of(TOOL);
    let work = view.call(&tool, arguments, CallContext::default());
    let outcome = match app.within_limit(work).await {
        Err(error @ Error::Denied(_)) => return Ok(failed_call(app, view.caller(), &error)),
        outcome => outcome.map_err(|error| super::failed(&error))?,
    };
    let Outcome::Done(CallToolResult { structured_content: Some(report), .. }) = outcome else {
        return Err(ApiError::new(ErrorCode::InternalError, "the sync did not report what it did"));
    };
    let mut response = Json(report).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
