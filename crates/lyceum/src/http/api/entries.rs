//! `GET /api/v1/entries`: a part of what is here, the newest first.

use std::fmt::Write;

use axum::{extract::Request, response::Response};
use lyceum_content::knowledge::{EntryPage, Summary};
use lyceum_model::ErrorCode;
use schemars::JsonSchema;

use super::{
    Api, cached,
    endpoint::{Endpoint, EndpointAccess, Form, Link, Verb, inline, named},
    query::{Asked, ListQuery},
};
use crate::http::ApiError;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/entries",
    access: EndpointAccess::Readers,
    handler: |api, request| Box::pin(list(api, request)),
    id: "listEntries",
    summary: "List documents",
    description: "What is known of each document, without its text; the newest first. Filters can be combined.",
    in_path: None,
    in_query: Some(inline::<ListQuery>),
    answers: &[Form { kind: "application/json", schema: named::<EntryList> }],
    links: &[Link {
        name: "newest",
        to: "getEntry",
        parameters: &[
            ("contentType", "$response.body#/entries/0/contentType"),
            ("id", "$response.body#/entries/0/id"),
        ],
    }],
    refusals: &[(
        ErrorCode::ValidationError,
        "A parameter is not what it should be; `details.field` names it.",
    )],
};

/// A part of what was asked for.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described; entries are JSON already, and are put together as text")]
struct EntryList {
    /// The entries, the newest first.
    entries: Vec<Summary>,
    /// How many there are in all.
    total: u64,
    /// How many are sent at most.
    limit: u32,
    /// How many were left out before the first.
    offset: u64,
}

async fn list(api: Api, request: Request) -> Result<Response, ApiError> {
    let knowledge = api.base.knowledge();
    let asked = Asked::parse(request.uri().query().unwrap_or_default(), knowledge.ontology())?;
    let shown = super::shown(knowledge).await?;
    let found = shown.catalog.find(knowledge.ontology(), &asked.filter, asked.offset, asked.limit);
    Ok(cached::answer(request.headers(), "application/json", written(&found, &asked)))
}

/// The answer as JSON. Each entry was written when it was brought in.
fn written(found: &EntryPage<'_>, asked: &Asked) -> String {
    let length: usize = found.entries.iter().map(|entry| entry.json.len() + 1).sum();
    let mut text = String::with_capacity(length + 96);
    text.push_str("{\"entries\":[");
    for (place, entry) in found.entries.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&entry.json);
    }
    let (total, limit, offset) = (found.total, asked.limit, asked.offset);
    // Writing to a string can't fail.
    let _written = write!(text, "],\"total\":{total},\"limit\":{limit},\"offset\":{offset}}}");
    text
}
