//! `search_knowledge`: the documents that answer a question best, with the passage that does.

use lyceum_model::Tier;
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{named, with_types};
use crate::{
    Finder, FoundAll,
    question::{Filters, Manner},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchKnowledge;

/// What it is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Natural language search query
    #[schemars(length(min = 1))]
    query: String,
    /// What may be found
    #[serde(default)]
    filters: Filters,
    /// Say what each stage of the search said of each result
    #[serde(default)]
    explain: bool,
}

impl Tool for SearchKnowledge {
    const NAME: &'static str = "search_knowledge";
    const TITLE: &'static str = "Search the knowledge base";
    const DESCRIPTION: &'static str = "Search the {title} knowledge base (hybrid: BM25 and embeddings). Returns the best \
        passages, each with its document, file, lines and commit. \
        Use double quotes for an exact phrase, and a trailing * for a prefix.";
    const TIER: Tier = Tier::Public;

    type Service = Finder;
    type Args = Args;
    type Output = FoundAll;

    fn contract(finder: &Finder, spec: ToolSpec) -> ToolSpec {
        with_types(&finder.knowledge, named(&finder.knowledge, spec))
    }

    async fn call(finder: &Finder, _: &Call, args: Args) -> Result<FoundAll, Error> {
        let manner = Manner { explain: args.explain, ..Manner::default() };
        finder.find(args.query, &args.filters, manner).await
    }
}
