//! `search_everything`: one hybrid search over all knowledge bases of the server.

use lyceum_tools::{Call, Error, Tool, ToolSpec};
use serde_json::Value;

use super::{filters_in, search_knowledge::Args};
use crate::{
    EverythingResponse, KnowledgeBases, SearchOptions,
    search_request::{SCRIPT, SKILL},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchEverything;

impl Tool for SearchEverything {
    const NAME: &'static str = "search_everything";
    const TITLE: &'static str = "Search all knowledge bases";
    const DESCRIPTION: &'static str = "Search all knowledge bases of this server at once (hybrid: BM25 and embeddings): \
        {bases}. Returns the best passages, each with its source, document, file, lines and commit, and the tool \
        that returns the full document.";

    type Service = KnowledgeBases;
    type Args = Args;
    type Output = EverythingResponse;

    /// Names the knowledge bases that everyone may search, with their sources and content types.
    fn contract(bases: &KnowledgeBases, mut spec: ToolSpec) -> ToolSpec {
        let (titles, types, sources) = bases.public_facts();
        let others = if titles.len() < bases.0.len() { ", and those that need sign-in" } else { "" };
        spec.description = spec.description.replace("{bases}", &(titles.join(", ") + others));
        let is_all = others.is_empty();
        for part in spec.input_schema.values_mut() {
            let Some(filters) = filters_in(part, 4) else { continue };
            let types = types.iter().copied().chain([SKILL, SCRIPT]).map(Value::from).chain([Value::Null]);
            let content_type = filters.get_mut("contentType").and_then(Value::as_object_mut);
            if let Some(property) = content_type.filter(|_| is_all) {
                property.insert("enum".to_owned(), types.collect());
            }
            if let Some(property) = filters.get_mut("source").and_then(Value::as_object_mut) {
                let text = format!("Only documents of this source: {}{others}", sources.join(", "));
                property.insert("description".to_owned(), text.into());
            }
        }
        spec
    }

    async fn call(bases: &KnowledgeBases, call: &Call, args: Args) -> Result<EverythingResponse, Error> {
        let options = SearchOptions { explain: args.explain, ..SearchOptions::default() };
        bases.find(call.caller(), &args.query, &args.filters, options).await
    }
}
