//! `search_knowledge`: hybrid search; results with the best passage.

use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{summaries, with_profile, with_types};
use crate::{
    KnowledgeSearch, SearchResponse,
    search_request::{Filters, SearchOptions},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchKnowledge;

/// The arguments, also of `search_everything`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Natural language search query
    #[schemars(length(min = 1))]
    pub(super) query: String,
    /// Filters that restrict the results
    #[serde(default)]
    pub(super) filters: Filters,
    /// Include the score of each search stage in each result
    #[serde(default)]
    pub(super) explain: bool,
}

impl Tool for SearchKnowledge {
    const NAME: &'static str = "search_knowledge";
    const TITLE: &'static str = "Search {title}";
    const DESCRIPTION: &'static str = "Search the {title} knowledge base (hybrid: BM25 and embeddings). Returns the best \
        passages, each with its document, file, lines and commit. \
        Use double quotes for an exact phrase, and a trailing * for a prefix.";

    type Service = KnowledgeSearch;
    type Args = Args;
    type Output = SearchResponse;

    fn contract(finder: &KnowledgeSearch, spec: ToolSpec) -> ToolSpec {
        let knowledge = &finder.knowledge;
        with_types(knowledge, with_profile(knowledge, summaries(knowledge, spec)))
    }

    async fn call(finder: &KnowledgeSearch, _: &Call, args: Args) -> Result<SearchResponse, Error> {
        let options = SearchOptions { explain: args.explain, ..SearchOptions::default() };
        finder.find(args.query, &args.filters, options).await
    }
}
