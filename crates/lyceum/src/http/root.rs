//! `GET /`: what this is and how to connect, for whoever opens it.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use axum::{Extension, extract::State};
use lyceum_knowledge::Knowledge;
use lyceum_model::Caller;

use crate::{app::App, config::KnowledgeApi};

/// Plain text until the web pages move in; a person and a model can both read it.
pub(super) async fn page(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> String {
    let url = app.public_url();
    if app.config.is_closed() && caller.is_anonymous() {
        return format!(
            "lyceum\n\nSign in to use this server: connect an MCP client to {url}/mcp, and it takes you there.\n"
        );
    }
    let registry = app.mcp.hub().registry();
    let services: Vec<&str> = registry.services().map(lyceum_model::Domain::as_str).collect();
    let knowledge = app.knowledge.as_ref().map(|knowledge| about(&app, &url, knowledge)).unwrap_or_default();
    format!(
        "lyceum {version}\n\n\
         MCP endpoint   {url}/mcp\n\
         Services       {services}; each alone at {url}/{{service}}/mcp\n\
         Tools by REST  {url}/tools\n\
         Health         {url}/health\n\n\
         Connect, for example:  claude mcp add --transport http lyceum {url}/mcp\n{knowledge}",
        version = env!("CARGO_PKG_VERSION"),
        services = services.join(", "),
    )
}

/// What is in the knowledge base, how fresh it is, and how to read it without an MCP client.
fn about(app: &App, url: &str, knowledge: &Knowledge) -> String {
    let (shown, title) = (knowledge.shown(), knowledge.title());
    let (Some(commit), Some(synced_at)) = (&shown.version, shown.synced_at) else {
        return format!(
            "\nThe knowledge base {title} is being fetched; {url}/readyz says when it is here.\n"
        );
    };
    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in shown.catalog.entries() {
        *by_type.entry(&entry.summary.content_type).or_default() += 1;
    }
    let entries = shown.catalog.entries();
    let mut text = format!(
        "\nThe knowledge base {title}: {count} documents, commit {commit}, brought in {synced_at}\n",
        count = entries.len()
    );
    for (content_type, count) in by_type {
        // Writing to a string can't fail.
        let _written = writeln!(text, "  {count:>6}  {content_type}");
    }
    if app.config.knowledge.as_ref().is_some_and(|service| service.api != KnowledgeApi::Public) {
        return text;
    }
    let _written = write!(
        text,
        "\nAs a list      {url}/api/v1/entries?limit=100\n\
         For a model    {url}/llms.txt\n\
         As OpenAPI     {url}/api/v1/openapi.json\n"
    );
    if let Some(first) = entries.first() {
        let (content_type, id) = (&first.summary.content_type, &first.summary.id);
        let _written = writeln!(
            text,
            "One document   curl -H 'Accept: text/markdown' {url}/api/v1/entries/{content_type}/{id}"
        );
    }
    text
}
