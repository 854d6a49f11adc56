//! `GET /llms.txt`: what is here, for a model that reads the web: links to every document, or to where they are listed.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use axum::{extract::Request, response::Response};
use lyceum_content::knowledge::{Entry, truncate};
use lyceum_knowledge::Shown;

use super::{
    Api, cached,
    endpoint::{Endpoint, EndpointAccess, Form, Verb, inline},
};
use crate::http::ApiError;

pub(super) const PATH: &str = "/llms.txt";

const KIND: &str = "text/plain; charset=utf-8";

/// How many documents of a type are named.
const NAMED: usize = 100;

/// How much is said of each, in characters.
const SAID: usize = 200;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: PATH,
    access: EndpointAccess::Readers,
    handler: |api, request| Box::pin(read(api, request)),
    id: "llmsTxt",
    summary: "What is here, for a model",
    description: "Markdown with a link to each document, by type, as llmstxt.org describes it.",
    in_path: None,
    in_query: None,
    answers: &[Form { kind: KIND, schema: inline::<String> }],
    links: &[],
    refusals: &[],
};

async fn read(api: Api, request: Request) -> Result<Response, ApiError> {
    let knowledge = api.base.knowledge();
    let shown = super::shown(knowledge).await?;
    let server = api.app.public_url();
    let text = written(&server, &api.base.root(), knowledge.title(), &shown);
    Ok(cached::answer(request.headers(), KIND, text))
}

fn written(server: &str, root: &str, title: &str, shown: &Shown) -> String {
    let url = format!("{server}{root}");
    let mut by_type: BTreeMap<&str, Vec<&Arc<Entry>>> = BTreeMap::new();
    for entry in shown.catalog.entries() {
        by_type.entry(&entry.summary.content_type).or_default().push(entry);
    }
    let (title, total) = (one_line(title), shown.catalog.entries().len());
    let mut text = format!(
        "# {title}\n\n\
         > A knowledge base of {total} documents, kept in Git and served by lyceum.\n\n\
         Each link below gives a document as JSON; with the header `Accept: text/markdown` it gives markdown, with the \
         commit it comes from. Quote documents with their title and commit.\n\n\
         - [Every document]({url}/api/v1/entries?limit=100): in pages, by `offset`; filters are `contentType`, `group`, \
         `release`, `status` and `tag`\n\
         - [The API]({url}/api/v1/openapi.json): described as OpenAPI\n\
         - MCP for assistants: {url}/mcp\n"
    );
    for (content_type, entries) in by_type {
        // Writing to a string can't fail.
        let _written = write!(text, "\n## {content_type}\n\n");
        for entry in entries.iter().take(NAMED) {
            let one = &entry.summary;
            let (title, id) = (in_link(&one.title), &one.id);
            let _written = write!(text, "- [{title}]({url}/api/v1/entries/{content_type}/{id})");
            let said = truncate(&one_line(&one.description), SAID);
            if !said.is_empty() {
                let _written = write!(text, ": {said}");
            }
            text.push('\n');
        }
        let more = entries.len().saturating_sub(NAMED);
        if more > 0 {
            let list = format!("{url}/api/v1/entries?contentType={content_type}&limit=100");
            let _written = writeln!(text, "- and {more} more: [every {content_type}]({list})");
        }
    }
    text
}

/// A text as the name of a link: without what would end it.
fn in_link(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// A text without the ends of its lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
