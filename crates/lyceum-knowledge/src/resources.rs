//! MCP resources: the four of the specification, and templates for documents and terms.

mod content;
mod lexicon;

use std::{future::Future, sync::Arc};

use lyceum_model::Domain;
use lyceum_tools::{
    Error, Outcome, RegistryBuilder, RegistryError, ResourceEntry,
    mcp::{MetaObject, ReadResourceResult, ResourceContents, WireResource},
};
use serde::Serialize;

use crate::{
    Document, Knowledge,
    provenance::Provenance,
    register::host,
    tools::{Groups, Releases},
};

/// System prompt for searching the knowledge base.
const KNOWLEDGE_SEARCH_SYSTEM_PROMPT: &str = include_str!("resources/knowledge_search.txt");

const PLAIN: &str = "text/plain";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Registers the resources and resource templates.
pub(crate) fn register(
    builder: RegistryBuilder,
    domain: &Domain,
    knowledge: &Arc<Knowledge>,
) -> Result<RegistryBuilder, RegistryError> {
    let title = knowledge.title();
    let prompt = format!("System prompt optimized for {title} knowledge base search");
    let groups = format!("List of {title} groups with metadata");
    let context = ResourceContext { domain, knowledge };
    builder
        .resource(context.resource("prompts/knowledge-search", &prompt, PLAIN, |knowledge| async move {
            Ok(KNOWLEDGE_SEARCH_SYSTEM_PROMPT.replace("{title}", knowledge.title()))
        }))?
        .resource(context.resource(
            "data/ontology",
            "Content type hierarchy and metadata schema documentation",
            JSON,
            |knowledge| async move { pretty(&knowledge.ontology().describe()) },
        ))?
        .resource(context.resource("data/groups", &groups, JSON, |knowledge| async move {
            pretty(&Groups::of(&knowledge).await?)
        }))?
        .resource(context.resource(
            "data/releases",
            "List of releases with metadata",
            JSON,
            |knowledge| async move { pretty(&Releases::of(&knowledge).await?) },
        ))?
        .template(content::template(domain, knowledge)?)?
        .template(lexicon::template(domain, knowledge)?)
}

/// Context for building resources.
struct ResourceContext<'a> {
    domain: &'a Domain,
    knowledge: &'a Arc<Knowledge>,
}

impl ResourceContext<'_> {
    /// Builds a text resource.
    fn resource<W>(
        &self,
        name: &str,
        description: &str,
        kind: &'static str,
        text: impl Fn(Arc<Knowledge>) -> W + Send + Sync + 'static,
    ) -> ResourceEntry
    where
        W: Future<Output = Result<String, Error>> + Send + 'static,
    {
        let uri = format!("mcp://{}/{name}", host(self.knowledge));
        let wire = WireResource::new(uri, name).with_description(description).with_mime_type(kind);
        let knowledge = self.knowledge.clone();
        let access = knowledge.options.public.summaries(self.domain);
        ResourceEntry::new(access, wire, move |_, address| {
            let text = text(knowledge.clone());
            async move {
                let contents = ResourceContents::text(text.await?, address.uri).with_mime_type(kind);
                Ok(Outcome::Done(ReadResourceResult::new(vec![contents])))
            }
        })
    }
}

fn pretty(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(value).map_err(Error::internal)
}

/// A document as a resource: markdown, with provenance in the frontmatter and in `_meta`.
fn as_markdown(document: &Document, uri: String) -> Result<ReadResourceResult, Error> {
    let provenance = Provenance::of_document(document);
    let mut meta = MetaObject::new();
    let provenance_value = serde_json::to_value(&provenance).map_err(Error::internal)?;
    meta.insert("lyceum/provenance".to_owned(), provenance_value);
    let contents =
        ResourceContents::text(document.to_markdown(), uri).with_mime_type(MARKDOWN).with_meta(meta);
    Ok(ReadResourceResult::new(vec![contents]))
}
