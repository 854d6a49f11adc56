//! `search_everything`: one hybrid search over all knowledge bases of the server.

use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::filters_in;
use crate::{
    EverythingResponse, Filters, KnowledgeBases, SearchOptions,
    search_request::{SCRIPT, SKILL},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchEverything;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Natural language search query
    #[schemars(length(min = 1))]
    query: String,
    /// Filters that restrict the results; source restricts them to one knowledge base
    #[serde(default)]
    filters: Filters,
    /// Include the score of each search stage in each result
    #[serde(default)]
    explain: bool,
}

impl Tool for SearchEverything {
    const NAME: &'static str = "search_everything";
    const TITLE: &'static str = "Search all knowledge bases";
    const DESCRIPTION: &'static str = "Search all knowledge bases of this server at once (hybrid: BM25 and embeddings): \
        {bases}. Returns the best passages, each with its source, document, file, lines and commit, and the tool \
        that returns the full document.";

    type Service = KnowledgeBases;
    type Args = Args;
    type Output = EverythingResponse;

    /// Names the knowledge bases, their sources and their content types.
    fn contract(bases: &KnowledgeBases, mut spec: ToolSpec) -> ToolSpec {
        let titles: Vec<&str> = bases.0.iter().map(|base| base.finder.knowledge.title()).collect();
        spec.description = spec.description.replace("{bases}", &titles.join(", "));
        let types = bases.types().into_iter().chain([SKILL, SCRIPT]).map(Value::from).chain([Value::Null]);
        let types: Vec<Value> = types.collect();
        let sources: Vec<&str> = bases.sources().into_iter().collect();
        for part in spec.input_schema.values_mut() {
            let Some(filters) = filters_in(part, 4) else { continue };
            if let Some(property) = filters.pointer_mut("/contentType").and_then(Value::as_object_mut) {
                property.insert("enum".to_owned(), types.clone().into());
            }
            if let Some(property) = filters.pointer_mut("/source").and_then(Value::as_object_mut) {
                let text = format!("Only documents of this source: {}", sources.join(", "));
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
