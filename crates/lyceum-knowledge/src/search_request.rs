//! A search request of a tool, an endpoint or the command line, with filters by the fields of documents.

use std::sync::Arc;

use jiff::Timestamp;
use lyceum_content::{
    language,
    ontology::{self, Ontology},
};
use lyceum_search::{Filter, MAX_RESULTS, Mode, Query, QueryResult, Search};
use lyceum_tools::{Error, mcp::printable};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Knowledge, SearchResponse, pages::search_error};

/// The default of `limit`.
pub const DEFAULT_RESULTS: usize = 5;

/// Content type of skills in the search index.
pub const SKILL: &str = "skill";
/// Content type of scripts of skills.
pub const SCRIPT: &str = "script";

/// Whether a page with that key, `type/id`, is a skill or part of one.
pub fn is_of_skills(key: &str) -> bool {
    key.split_once('/').is_some_and(|(kind, _)| [SKILL, SCRIPT].contains(&kind))
}

/// Filters of a search; those that are not given don't restrict it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Filters {
    /// Filter by content type (pattern, tag, article, etc.), including its subtypes
    pub content_type: Option<String>,
    /// Filter by group
    pub group: Option<String>,
    /// Filter by release
    pub release: Option<String>,
    /// Filter by status
    pub status: Option<String>,
    /// Filter by tags: any of these
    #[schemars(length(max = 50))]
    pub tags: Vec<String>,
    /// Only documents dated on or after this day, such as 2026-01-31
    pub since: Option<String>,
    /// Only documents dated on or before this day
    pub until: Option<String>,
    /// Only documents of this source
    pub source: Option<String>,
    /// Only files whose path starts with this, such as docs/
    pub path: Option<String>,
    /// Only documents in this language, such as de or zh-CN
    pub language: Option<String>,
    /// Maximum results to return
    #[schemars(range(min = 1, max = MAX_RESULTS), extend("default" = DEFAULT_RESULTS))]
    pub limit: Option<usize>,
}

/// Options of a search, besides its filters.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchOptions {
    /// The search mode.
    pub mode: Mode,
    /// Whether each hit carries the score of each stage.
    pub explain: bool,
    /// Whether to count facets.
    pub facets: bool,
}

/// The knowledge base together with its search index.
#[derive(Debug, Clone)]
pub struct KnowledgeSearch {
    /// The knowledge base.
    pub knowledge: Arc<Knowledge>,
    /// The index.
    pub search: Arc<Search>,
}

impl KnowledgeSearch {
    /// Runs a search. Waits for the first sync.
    pub async fn find(
        &self,
        text: String,
        filters: &Filters,
        options: SearchOptions,
    ) -> Result<SearchResponse, Error> {
        Ok(SearchResponse::of(self.query(text, filters, options).await?, options.explain))
    }

    /// The search of [`KnowledgeSearch::find`], before it becomes a response.
    pub(crate) async fn query(
        &self,
        text: String,
        filters: &Filters,
        options: SearchOptions,
    ) -> Result<QueryResult, Error> {
        let filter = filter(self.knowledge.ontology(), filters)?;
        let limit = filters.limit.unwrap_or(DEFAULT_RESULTS);
        self.knowledge.ready().await?;
        let query = Query { text, filter, limit, mode: options.mode, facets: options.facets };
        let mut result = self.search.find(query.clone()).await.map_err(search_error)?;
        if result.hits.is_empty() && result.searched.documents == 0 {
            self.knowledge.wait_until_indexed().await;
            result = self.search.find(query).await.map_err(search_error)?;
        }
        // The index may be slightly stale: drop documents that are no longer published.
        let snapshot = self.knowledge.snapshot();
        result.hits.retain(|hit| {
            let facts = &hit.facts;
            is_of_skills(&facts.key()) || snapshot.catalog.get(&facts.content_type, &facts.id).is_some()
        });
        Ok(result)
    }
}

/// Validates the filters and converts them for the search index.
fn filter(ontology: &Ontology, filters: &Filters) -> Result<Filter, Error> {
    let wanted = filters.content_type.as_deref().map(|name| types(ontology, name)).transpose()?;
    Ok(Filter {
        content_types: wanted.unwrap_or_default(),
        group: filters.group.clone(),
        tags: filters.tags.clone(),
        release: filters.release.clone(),
        status: filters.status.clone(),
        since: filters.since.as_deref().map(|text| day("since", text)).transpose()?,
        until: filters.until.as_deref().map(|text| day("until", text).map(end_of_day)).transpose()?,
        source: filters.source.clone(),
        path: filters.path.clone(),
        language: filters.language.as_deref().map(language).transpose()?,
    })
}

/// A type and the types that extend it.
fn types(ontology: &Ontology, name: &str) -> Result<Vec<String>, Error> {
    if [SKILL, SCRIPT].contains(&name) {
        return Ok(vec![name.to_owned()]);
    }
    if ontology.get(name).is_none() {
        let names: Vec<&str> = ontology.types().map(|one| one.name.as_str()).chain([SKILL, SCRIPT]).collect();
        let message = format!("unknown type {:?}; write one of {}", printable(name), names.join(", "));
        return Err(Error::invalid("contentType", message));
    }
    Ok(ontology.with_children(name).map(|one| one.name.clone()).collect())
}

fn language(text: &str) -> Result<String, Error> {
    language::tag(text.trim()).ok_or_else(|| {
        let message =
            format!("{:?} is not a language tag; write a code such as de or zh-CN", printable(text));
        Error::invalid("language", message)
    })
}

fn day(field: &str, text: &str) -> Result<Timestamp, Error> {
    ontology::moment(text.trim()).ok_or_else(|| {
        let message =
            format!("{field} is {:?}, which is not a date; write it like 2026-01-31", printable(text));
        Error::invalid(field, message)
    })
}

/// The end of a day; a time other than midnight stays as it is.
fn end_of_day(first: Timestamp) -> Timestamp {
    let is_midnight = first.as_second().rem_euclid(86_400) == 0;
    if !is_midnight {
        return first;
    }
    first.checked_add(jiff::SignedDuration::from_secs(86_399)).unwrap_or(first)
}
