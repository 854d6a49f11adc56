//! `GET /api/v1/drafts`: the tool `list_drafts`, for operators with `curl`.

use axum::{extract::Request, response::Response};
use lyceum_knowledge::DraftList;
use lyceum_model::ErrorCode;
use lyceum_tools::mcp::JsonObject;
use schemars::JsonSchema;
use serde_json::Value;

use super::{
    Api,
    endpoint::{Endpoint, EndpointAccess, ResponseFormat, Verb, inline, named},
    query::pairs,
    tool_call::call_tool,
};
use crate::http::ApiError;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/drafts",
    access: EndpointAccess::OfTool,
    handler: |api, request| Box::pin(list(api, request)),
    id: "listDrafts",
    summary: "List drafts",
    description: "Documents and links that were proposed, newest first, with the state of their pull requests. Needs the \
                  tier `member`, the scope `knowledge:read`, and `[knowledge.drafts]` in the configuration.",
    in_path: None,
    in_query: Some(inline::<DraftQuery>),
    responses: &[ResponseFormat { kind: "application/json", schema: named::<DraftList> }],
    links: &[],
    refusals: &[
        (ErrorCode::ValidationError, "A parameter is invalid; `details.field` names it."),
        (ErrorCode::NotFound, "Drafts are not enabled."),
    ],
};

/// The tool that this endpoint calls.
const TOOL: &str = "list_drafts";

/// The query parameters, for OpenAPI; the tool checks them.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI; the tool validates its arguments")]
struct DraftQuery {
    /// Only drafts in this state: `queued`, `open`, `pushed`, `merged`, `closed` or `failed`.
    state: Option<String>,
    /// Maximum number of drafts.
    #[schemars(range(min = 1, max = 100), extend("default" = 20))]
    limit: Option<u32>,
}

async fn list(api: Api, request: Request) -> Result<Response, ApiError> {
    let mut arguments = JsonObject::new();
    for (name, value) in pairs(request.uri().query().unwrap_or_default()) {
        let value = value.unwrap_or_default();
        match name.as_ref() {
            "state" => arguments.insert(name.into_owned(), value.into()),
            // What is not a number is left to the tool, which says so.
            "limit" => {
                let limit = value.parse::<u32>().map_or_else(|_| Value::from(value), Value::from);
                arguments.insert(name.into_owned(), limit)
            }
            _ => None,
        };
    }
    call_tool(api, super::caller_of(&request), TOOL, arguments).await
}
