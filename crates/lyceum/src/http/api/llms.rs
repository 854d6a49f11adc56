//! `GET /llms.txt`: an index for language models, with links to all documents or to lists of them.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use axum::{extract::Request, response::Response};
use lyceum_content::knowledge::{Entry, truncate};
use lyceum_knowledge::CatalogSnapshot;
use lyceum_model::Access;

use super::{
    Api, cached,
    endpoint::{Endpoint, EndpointAccess, ResponseFormat, Verb, inline},
};
use crate::{http::ApiError, service::Service};

pub(super) const PATH: &str = "/llms.txt";

const KIND: &str = "text/plain; charset=utf-8";

/// Maximum number of documents listed per type.
const MAX_DOCUMENTS_PER_TYPE: usize = 100;

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 200;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: PATH,
    access: EndpointAccess::Summaries,
    handler: |api, request| Box::pin(read(api, request)),
    id: "llmsTxt",
    summary: "Index for language models",
    description: "Links to all documents, by type, in the format of llmstxt.org.",
    in_path: None,
    in_query: None,
    responses: &[ResponseFormat { kind: KIND, schema: inline::<String> }],
    links: &[],
    refusals: &[],
};

async fn read(api: Api, request: Request) -> Result<Response, ApiError> {
    let knowledge = api.base.knowledge();
    let snapshot = super::catalog(knowledge).await?;
    let server = api.app.public_url();
    let access = api.base.public().documents(api.base.name());
    let text = render(&server, &api.base.root(), knowledge.title(), &snapshot, &access);
    Ok(cached::respond(request.headers(), KIND, text))
}

fn render(server: &str, root: &str, title: &str, snapshot: &CatalogSnapshot, documents: &Access) -> String {
    let note = if documents.is_public() { "" } else { " Documents require sign-in as a member." };
    let url = format!("{server}{root}");
    let mut by_type: BTreeMap<&str, Vec<&Arc<Entry>>> = BTreeMap::new();
    for entry in snapshot.catalog.entries() {
        by_type.entry(&entry.summary.content_type).or_default().push(entry);
    }
    let (title, total) = (one_line(title), snapshot.catalog.entries().len());
    let mut text = format!(
        "# {title}\n\n\
         > A knowledge base of {total} documents from Git, served by lyceum.\n\n\
         Each link below returns a document as JSON, or with the header `Accept: text/markdown` as markdown, with the \
         commit it comes from.{note} Cite documents by title and commit.\n\n\
         - [All documents]({url}/api/v1/entries?limit=100): paginated by `offset`; filters are `contentType`, `group`, \
         `release`, `status` and `tag`\n\
         - [API]({url}/api/v1/openapi.json): OpenAPI description\n\
         - MCP for assistants: {url}/mcp\n"
    );
    for (content_type, entries) in by_type {
        // Writing to a string can't fail.
        let _written = write!(text, "\n## {content_type}\n\n");
        for entry in entries.iter().take(MAX_DOCUMENTS_PER_TYPE) {
            let one = &entry.summary;
            let (title, id) = (escape_link_text(&one.title), &one.id);
            let _written = write!(text, "- [{title}]({url}/api/v1/entries/{content_type}/{id})");
            let description = truncate(&one_line(&one.description), MAX_DESCRIPTION_CHARS);
            if !description.is_empty() {
                let _written = write!(text, ": {description}");
            }
            text.push('\n');
        }
        let more = entries.len().saturating_sub(MAX_DOCUMENTS_PER_TYPE);
        if more > 0 {
            let list = format!("{url}/api/v1/entries?contentType={content_type}&limit=100");
            let _written = writeln!(text, "- and {more} more: [all of type {content_type}]({list})");
        }
    }
    text
}

/// Escapes link text.
fn escape_link_text(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// Collapses white space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
