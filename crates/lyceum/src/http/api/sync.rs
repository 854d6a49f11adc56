//! `POST /api/v1/sources/{name}/sync`: the tool `refresh_sources`, for operators with `curl`.

use axum::{
    Json,
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, header};
use lyceum_knowledge::Report;
use lyceum_model::ErrorCode;
use lyceum_tools::{CallContext, Error, Outcome, View, mcp::JsonObject};
use schemars::JsonSchema;

use super::{
    Api,
    endpoint::{Endpoint, EndpointAccess, ResponseFormat, Verb, inline, named},
    query::percent_decoded,
};
use crate::http::{ApiError, failed_call};

/// The tool that this endpoint calls.
const TOOL: &str = "refresh_sources";

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Post,
    path: "/api/v1/sources/{name}/sync",
    access: EndpointAccess::OfTool,
    handler: |api, request| Box::pin(refresh(api, request)),
    id: "syncSource",
    summary: "Sync a source",
    description: "Syncs the source now and returns what changed. Needs the scope `sources:refresh`; web pages of other \
                  origins can't call it.",
    in_path: Some(inline::<SourcePath>),
    in_query: None,
    responses: &[ResponseFormat { kind: "application/json", schema: named::<Report> }],
    links: &[],
    refusals: &[
        (ErrorCode::ValidationError, "The source can't be read as configured."),
        (ErrorCode::NotFound, "No source has this name."),
        (ErrorCode::UpstreamError, "The source could not be reached."),
        (ErrorCode::Timeout, "The sync took longer than `limits.call_seconds`; it may still be running."),
    ],
};

/// The path parameters, for OpenAPI.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI; the handler parses the path itself")]
struct SourcePath {
    /// The name of the source in the configuration.
    name: String,
}

async fn refresh(api: Api, request: Request) -> Result<Response, ApiError> {
    let rest = api.path(&request).strip_prefix(super::OPERATOR_PREFIX).unwrap_or_default();
    let name = &*percent_decoded(rest.strip_suffix("/sync").unwrap_or_default()).unwrap_or_default();
    let app = &api.app;
    let view = View::of_all(app.mcp.hub().registry(), super::caller_of(&request));
    let arguments = JsonObject::from_iter([("source".to_owned(), name.into())]);
    let tool = api.base.prefix.of(TOOL);
    let work = view.call(&tool, arguments, CallContext::default());
    let outcome = match app.within_limit(work).await {
        Err(error @ Error::Denied(_)) => return Ok(failed_call(app, view.caller(), &error)),
        outcome => outcome.map_err(|error| super::failed(&error))?,
    };
    let report = match outcome {
        Outcome::Done(result) => result.structured_content(),
        Outcome::NeedInput(_) => None,
    };
    let Some(report) = report else {
        return Err(ApiError::new(ErrorCode::InternalError, "the sync returned no report"));
    };
    let mut response = Json(report).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
