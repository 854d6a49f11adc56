//! `search_with_documents`: the same as `search_knowledge`, with every document whole.

use futures::future::join_all;
use lyceum_model::Tier;
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{for_members, named, with_types};
use crate::{
    Document, Finder, Found, FoundAll,
    question::{Filters, Manner},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchWithDocuments;

/// What it is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Search query
    #[schemars(length(min = 1))]
    query: String,
    /// What may be found
    #[serde(default)]
    filters: Filters,
}

impl Tool for SearchWithDocuments {
    const NAME: &'static str = "search_with_documents";
    const TITLE: &'static str = "Search, with whole documents";
    const DESCRIPTION: &'static str =
        "Search {title} and return full document content for results. Requires member access.";
    const TIER: Tier = Tier::Member;
    const SCOPES: &'static [&'static str] = &["knowledge:read"];

    type Service = Finder;
    type Args = Args;
    type Output = FoundAll;

    fn contract(finder: &Finder, spec: ToolSpec) -> ToolSpec {
        let knowledge = &finder.knowledge;
        with_types(knowledge, for_members(knowledge, named(knowledge, spec)))
    }

    async fn call(finder: &Finder, _: &Call, args: Args) -> Result<FoundAll, Error> {
        let mut found = finder.find(args.query, &args.filters, Manner::default()).await?;
        let documents = join_all(found.results.iter().map(|one| document(finder, one))).await;
        for (one, document) in found.results.iter_mut().zip(documents) {
            one.document = document;
        }
        Ok(found)
    }
}

/// The document of a result; nothing for what is no document, or is gone since.
async fn document(finder: &Finder, found: &Found) -> Option<Document> {
    let shown = finder.knowledge.shown();
    let entry = shown.catalog.get(&found.content_type, &found.id)?;
    finder.knowledge.document(entry).await.ok()
}
