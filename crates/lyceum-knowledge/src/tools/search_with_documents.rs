//! `search_with_documents`: like `search_knowledge`, with full documents.

use futures::future::join_all;
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{documents, with_types};
use crate::{
    Document, KnowledgeSearch, SearchHit, SearchResponse,
    search_request::{Filters, SearchOptions},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchWithDocuments;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Search query
    #[schemars(length(min = 1))]
    query: String,
    /// Filters that restrict the results
    #[serde(default)]
    filters: Filters,
}

impl Tool for SearchWithDocuments {
    const NAME: &'static str = "search_with_documents";
    const TITLE: &'static str = "Search {title}, with whole documents";
    const DESCRIPTION: &'static str = "Search {title} and return full document content for results.";

    type Service = KnowledgeSearch;
    type Args = Args;
    type Output = SearchResponse;

    fn contract(finder: &KnowledgeSearch, spec: ToolSpec) -> ToolSpec {
        with_types(&finder.knowledge, documents(&finder.knowledge, spec))
    }

    async fn call(finder: &KnowledgeSearch, _: &Call, args: Args) -> Result<SearchResponse, Error> {
        let mut response = finder.find(args.query, &args.filters, SearchOptions::default()).await?;
        let documents = join_all(response.results.iter().map(|hit| document(finder, hit))).await;
        for (hit, document) in response.results.iter_mut().zip(documents) {
            hit.document = document;
        }
        Ok(response)
    }
}

/// The document of a result; `None` for skills and documents that are gone.
async fn document(finder: &KnowledgeSearch, hit: &SearchHit) -> Option<Document> {
    let snapshot = finder.knowledge.snapshot();
    let entry = snapshot.catalog.get(&hit.content_type, &hit.id)?;
    finder.knowledge.document(entry).await.ok()
}
