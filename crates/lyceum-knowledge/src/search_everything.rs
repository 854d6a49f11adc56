//! One search over several knowledge bases: each index is queried, and the results are merged into one ranking.
//!
//! A knowledge base that fails is left out and named; it does not fail the others.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use futures::future::join_all;
use lyceum_model::{Access, Caller, Domain, ErrorCode};
use lyceum_search::{IndexResult, MAX_RESULTS, merge};
use lyceum_tools::{Error, Prefix, mcp::printable, permit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    DEFAULT_RESULTS, Filters, Knowledge, KnowledgeSearch, SearchHit, SearchOptions,
    pages::search_error,
    search_response::{SearchCoverage, coverage, milliseconds, search_hit},
};

/// A knowledge base among several.
#[derive(Debug, Clone)]
pub struct NamedBase {
    /// The name of its service.
    pub name: Domain,
    /// The prefix of its tools.
    pub prefix: Prefix,
    /// Who may search it.
    pub access: Access,
    /// The knowledge base and its index.
    pub finder: Arc<KnowledgeSearch>,
}

/// The knowledge bases that are searched together.
#[derive(Debug, Clone)]
pub struct KnowledgeBases(pub Vec<NamedBase>);

/// The response of a search over several knowledge bases.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EverythingResponse {
    /// The results of all knowledge bases, best first.
    pub results: Vec<EverythingHit>,
    /// Duration of the search in milliseconds.
    pub took_ms: f64,
    /// Why results may be worse than usual; null otherwise.
    pub degraded: Option<String>,
    /// The query with a word corrected that no document contains.
    #[serde(rename = "didYouMean", skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// What was searched; without results only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<SearchCoverage>,
}

/// A document that matches a query, and where to read it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EverythingHit {
    /// The service that has the document.
    pub service: String,
    /// The tool that returns the full document, by contentType and id; for skills, `get_skill` does.
    pub document_tool: String,
    /// The document.
    #[serde(flatten)]
    pub hit: SearchHit,
}

impl KnowledgeBases {
    /// Searches all knowledge bases that the caller may search.
    pub async fn find(
        &self,
        caller: &Caller,
        text: &str,
        filters: &Filters,
        options: SearchOptions,
    ) -> Result<EverythingResponse, Error> {
        let started = Instant::now();
        let bases: Vec<&NamedBase> =
            self.0.iter().filter(|base| permit(caller, &base.access).is_ok()).collect();
        check_source(&bases, filters)?;
        let answers = join_all(bases.iter().map(|base| base.search(text, filters, options))).await;
        let (mut results, mut failures, mut invalid) = (Vec::new(), Vec::new(), None);
        for (base, answer) in bases.iter().zip(answers) {
            match answer {
                Ok(result) => results.push(result),
                // A type of one knowledge base may be unknown to another.
                Err(error @ Error::Invalid { .. }) => invalid = Some(error),
                Err(error) if error.code() == ErrorCode::InvalidQuery => return Err(error),
                Err(error) => failures.push((base.name.as_str(), error)),
            }
        }
        if results.is_empty()
            && let Some(error) = invalid.or_else(|| failures.pop().map(|(_, error)| error))
        {
            return Err(error);
        }
        let limit = filters.limit.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS);
        let merged = merge(text, results, limit);
        let unavailable = failures.iter().map(|(name, error)| format!("{name} was not searched: {error}"));
        let degraded: Vec<String> = unavailable.chain(merged.degraded).collect();
        Ok(EverythingResponse {
            searched: merged.hits.is_empty().then(|| coverage(merged.searched)),
            results: merged
                .hits
                .into_iter()
                .map(|(base, hit)| EverythingHit {
                    service: base.name.to_string(),
                    document_tool: base.prefix.of("get_document"),
                    hit: search_hit(hit, options.explain),
                })
                .collect(),
            took_ms: milliseconds(started.elapsed()),
            degraded: (!degraded.is_empty()).then(|| degraded.join("; ")),
            did_you_mean: merged.suggestion,
        })
    }

    /// Titles, content types and sources of the knowledge bases that everyone may search: descriptions are the same for
    /// every caller.
    pub(crate) fn public_facts(&self) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
        let public = || self.0.iter().filter(|base| base.access.is_public());
        let knowledge = || public().map(|base| &*base.finder.knowledge);
        let types: BTreeSet<&str> =
            knowledge().flat_map(|one| one.ontology().types().map(|one| one.name.as_str())).collect();
        let sources: BTreeSet<&str> = public().map(NamedBase::source).collect();
        (
            knowledge().map(Knowledge::title).collect(),
            types.into_iter().collect(),
            sources.into_iter().collect(),
        )
    }
}

impl NamedBase {
    fn source(&self) -> &str {
        self.finder.knowledge.source_name().as_str()
    }

    async fn search(
        &self,
        text: &str,
        filters: &Filters,
        options: SearchOptions,
    ) -> Result<IndexResult<&Self>, Error> {
        let result = self.finder.query(text.to_owned(), filters, options).await?;
        let idf_mass = self.finder.search.idf_mass(text).await.map_err(search_error)?;
        Ok(IndexResult { origin: self, result, idf_mass })
    }
}

/// Refuses a source that no knowledge base has. Skills are indexed with a knowledge base, under their own source.
fn check_source(bases: &[&NamedBase], filters: &Filters) -> Result<(), Error> {
    let Some(wanted) = &filters.source else { return Ok(()) };
    let known: BTreeSet<&str> = bases.iter().map(|base| base.source()).collect();
    if known.contains(wanted.as_str()) || filters.content_type.as_deref().is_some_and(is_skill) {
        return Ok(());
    }
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    Err(Error::invalid("source", format!("unknown source {:?}; write one of {known}", printable(wanted))))
}

fn is_skill(content_type: &str) -> bool {
    [crate::SKILL, crate::SCRIPT].contains(&content_type)
}
