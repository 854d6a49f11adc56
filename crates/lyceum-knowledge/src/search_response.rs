//! The response of a search, the same over MCP, REST and the command line.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use lyceum_search::{Facets, Hit, IndexCoverage, QueryResult};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Document;

/// The response of a search.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResponse {
    /// The results, best first.
    pub results: Vec<SearchHit>,
    /// Duration of the search in milliseconds.
    pub took_ms: f64,
    /// Why results may be worse than usual; null otherwise.
    pub degraded: Option<String>,
    /// The query with a word corrected that no document contains.
    #[serde(rename = "didYouMean", skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// Counts of the lexical matches by type, group, tag and so on; with `facets` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetCounts>,
    /// What was searched; without results only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<SearchCoverage>,
}

/// A document that matches a query.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The id, unique within the type.
    pub id: String,
    /// The type.
    pub content_type: String,
    /// The title.
    pub title: String,
    /// A short description.
    pub description: String,
    /// The fused score of BM25 and embeddings that results are ordered by.
    pub score: f32,
    /// The reranker's score, if a reranker is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f32>,
    /// The best passage, with the words of the query in `**`.
    pub snippet: String,
    /// The headings around the passage.
    pub heading: String,
    /// The source it comes from.
    pub source: String,
    /// Its file in the source.
    pub path: String,
    /// The first and the last line of the passage in the file.
    pub lines: [i64; 2],
    /// A link to the passage at that commit; null if there is none.
    pub url: Option<String>,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub commit_sha: String,
    /// When it was synced.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Timestamp,
    /// Its language, such as `de` or `zh-CN`, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The score of each stage; with `explain` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<ScoreExplanation>,
    /// The full document, where the tool returns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
}

/// The scores of each stage for a document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScoreExplanation {
    /// BM25 score; null if it shares no word with the query.
    pub bm25: Option<f32>,
    /// Cosine similarity of its nearest chunk; null if it has no vector.
    pub cosine: Option<f32>,
    /// Rank before reranking, from 1.
    pub rank: usize,
}

/// Number of lexical matches by value of each field.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacetCounts {
    content_type: BTreeMap<String, usize>,
    group: BTreeMap<String, usize>,
    tag: BTreeMap<String, usize>,
    release: BTreeMap<String, usize>,
    status: BTreeMap<String, usize>,
    source: BTreeMap<String, usize>,
    language: BTreeMap<String, usize>,
}

/// What was searched, and how fresh it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchCoverage {
    /// Number of documents that passed the filters.
    pub documents: usize,
    /// Their sources.
    pub sources: Vec<String>,
    /// When the newest of them was synced.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub synced_at: Option<Timestamp>,
}

impl SearchResponse {
    /// The response for a query result.
    pub fn of(result: QueryResult, explain: bool) -> Self {
        let QueryResult { hits, took, degraded, suggestion, facets, searched } = result;
        Self {
            searched: hits.is_empty().then(|| coverage(searched)),
            results: hits.into_iter().map(|hit| search_hit(hit, explain)).collect(),
            took_ms: milliseconds(took),
            degraded,
            did_you_mean: suggestion,
            facets: facets.map(counts),
        }
    }
}

pub(crate) fn coverage(searched: IndexCoverage) -> SearchCoverage {
    let IndexCoverage { documents, sources, synced_at } = searched;
    SearchCoverage { documents, sources, synced_at }
}

/// Milliseconds with two decimals.
pub(crate) fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 100_000.0).round() / 100.0
}

pub(crate) fn search_hit(hit: Hit, explain: bool) -> SearchHit {
    let Hit { source, facts, score, rerank_score, snippet, heading, lines: (first, last), stages } = hit;
    let facts = Arc::unwrap_or_clone(facts);
    // Link to the lines, unless the URL has a fragment already.
    let url = facts.url.map(|url| if url.contains('#') { url } else { format!("{url}#L{first}-L{last}") });
    SearchHit {
        id: facts.id,
        content_type: facts.content_type,
        title: facts.title,
        description: facts.description,
        score,
        rerank_score,
        snippet,
        heading,
        source: source.to_string(),
        path: facts.path,
        lines: [first, last],
        url,
        commit_sha: facts.commit_sha,
        synced_at: facts.synced_at,
        language: facts.language,
        explain: explain.then_some(ScoreExplanation {
            bm25: stages.bm25,
            cosine: stages.cosine,
            rank: stages.rank,
        }),
        document: None,
    }
}

fn counts(facets: Facets) -> FacetCounts {
    let Facets { content_types, groups, tags, releases, statuses, sources, languages } = facets;
    FacetCounts {
        content_type: content_types,
        group: groups,
        tag: tags,
        release: releases,
        status: statuses,
        source: sources,
        language: languages,
    }
}
