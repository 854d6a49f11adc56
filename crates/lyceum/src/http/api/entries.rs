//! `GET /api/v1/entries`: lists documents, newest first.

use std::fmt::Write;

use axum::{extract::Request, response::Response};
use lyceum_content::knowledge::{EntryPage, Summary};
use lyceum_model::ErrorCode;
use schemars::JsonSchema;

use super::{
    Api, cached,
    endpoint::{Endpoint, EndpointAccess, Link, ResponseFormat, Verb, inline, named},
    query::{ListQuery, ListRequest},
};
use crate::http::ApiError;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/entries",
    access: EndpointAccess::Summaries,
    handler: |api, request| Box::pin(list(api, request)),
    id: "listEntries",
    summary: "List documents",
    description: "Lists documents without their text, newest first. Filters can be combined.",
    in_path: None,
    in_query: Some(inline::<ListQuery>),
    responses: &[ResponseFormat { kind: "application/json", schema: named::<EntryList> }],
    links: &[Link {
        name: "newest",
        to: "getEntry",
        parameters: &[
            ("contentType", "$response.body#/entries/0/contentType"),
            ("id", "$response.body#/entries/0/id"),
        ],
    }],
    refusals: &[(ErrorCode::ValidationError, "A parameter is invalid; `details.field` names it.")],
};

/// A page of entries.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI; the response is assembled from serialized entries")]
struct EntryList {
    /// The entries, newest first.
    entries: Vec<Summary>,
    /// Total number of matches.
    total: u64,
    /// Maximum number of entries on this page.
    limit: u32,
    /// Number of entries skipped.
    offset: u64,
}

async fn list(api: Api, request: Request) -> Result<Response, ApiError> {
    let knowledge = api.base.knowledge();
    let list_request = ListRequest::parse(request.uri().query().unwrap_or_default(), knowledge.ontology())?;
    let snapshot = super::catalog(knowledge).await?;
    let found = snapshot.catalog.find(
        knowledge.ontology(),
        &list_request.filter,
        list_request.offset,
        list_request.limit,
    );
    Ok(cached::respond(request.headers(), "application/json", to_json(&found, &list_request)))
}

/// The response as JSON. Each entry was serialized when it was synced.
fn to_json(found: &EntryPage<'_>, list_request: &ListRequest) -> String {
    let length: usize = found.entries.iter().map(|entry| entry.json.len() + 1).sum();
    let mut text = String::with_capacity(length + 96);
    text.push_str("{\"entries\":[");
    for (index, entry) in found.entries.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&entry.json);
    }
    let (total, limit, offset) = (found.total, list_request.limit, list_request.offset);
    // Writing to a string can't fail.
    let _written = write!(text, "],\"total\":{total},\"limit\":{limit},\"offset\":{offset}}}");
    text
}
