//! The result of a query: hits, scores, facets, and what was searched.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    MAX_RESULTS, Query,
    candidates::{CandidateHit, Candidates},
};
use crate::{lexical::ParsedQuery, page::Facts, rerank::RerankOutcome, search::OpenIndex, snippet::snippet};

/// The result of a query.
#[derive(Debug, Clone)]
pub struct QueryResult {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How long it took.
    pub took: Duration,
    /// Why the result may be worse than usual.
    pub degraded: Option<String>,
    /// The query with misspelt words corrected.
    pub suggestion: Option<String>,
    /// Facet counts, if requested.
    pub facets: Option<Facets>,
    /// What was searched.
    pub searched: IndexCoverage,
}

/// A page that matches a query.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The source it comes from.
    pub source: Arc<str>,
    /// Its metadata.
    pub facts: Arc<Facts>,
    /// The fused score, before reranking.
    pub score: f32,
    /// The reranker's score.
    pub rerank_score: Option<f32>,
    /// The passage, with query terms highlighted.
    pub snippet: String,
    /// Enclosing headings of the passage.
    pub heading: String,
    /// First and last line of the passage in the file.
    pub lines: (i64, i64),
    /// Scores of the single stages.
    pub stages: Stages,
}

/// Scores of a page by stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stages {
    /// BM25 score.
    pub bm25: Option<f32>,
    /// Cosine of its nearest chunk.
    pub cosine: Option<f32>,
    /// Rank before reranking, from 1.
    pub rank: usize,
}

/// Facet counts of the matching pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// By type.
    pub content_types: BTreeMap<String, usize>,
    /// By group.
    pub groups: BTreeMap<String, usize>,
    /// By tag.
    pub tags: BTreeMap<String, usize>,
    /// By release.
    pub releases: BTreeMap<String, usize>,
    /// By status.
    pub statuses: BTreeMap<String, usize>,
    /// By source.
    pub sources: BTreeMap<String, usize>,
    /// By language.
    pub languages: BTreeMap<String, usize>,
}

/// What was searched, and how fresh it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexCoverage {
    /// Number of pages.
    pub documents: usize,
    /// Their sources.
    pub sources: Vec<String>,
    /// Most recent sync of any of them.
    pub synced_at: Option<Timestamp>,
}

impl Facets {
    pub(super) fn count(&mut self, source: &str, facts: &Facts) {
        let add =
            |map: &mut BTreeMap<String, usize>, name: &str| *map.entry(name.to_owned()).or_default() += 1;
        add(&mut self.content_types, &facts.content_type);
        add(&mut self.sources, source);
        facts.tags.iter().for_each(|tag| add(&mut self.tags, tag));
        facts.group.iter().for_each(|group| add(&mut self.groups, group));
        facts.release.iter().for_each(|release| add(&mut self.releases, release));
        facts.language.iter().for_each(|language| add(&mut self.languages, language));
        facts.status.iter().for_each(|status| add(&mut self.statuses, status));
    }

    /// Adds the counts of another index.
    pub(super) fn add(&mut self, other: Self) {
        let Self { content_types, groups, tags, releases, statuses, sources, languages } = other;
        for (mine, others) in [
            (&mut self.content_types, content_types),
            (&mut self.groups, groups),
            (&mut self.tags, tags),
            (&mut self.releases, releases),
            (&mut self.statuses, statuses),
            (&mut self.sources, sources),
            (&mut self.languages, languages),
        ] {
            for (name, count) in others {
                *mine.entry(name).or_default() += count;
            }
        }
    }
}

impl IndexCoverage {
    /// Adds what was searched in another index.
    pub(super) fn add(&mut self, other: Self) {
        self.documents += other.documents;
        self.sources.extend(other.sources);
        self.sources.sort();
        self.sources.dedup();
        self.synced_at = self.synced_at.max(other.synced_at);
    }
}

/// Reranks the candidates if there is a reranker.
pub(super) async fn rerank(opened: &OpenIndex, text: &str, candidates: &mut Candidates) {
    let Some(rerank) = &opened.rerank else { return };
    if candidates.hits.is_empty() {
        return;
    }
    let passages: Vec<String> = (candidates.hits.iter().take(MAX_RESULTS))
        .map(|hit| format!("{}\n{}", hit.entry.facts.title, hit.passage.text))
        .collect();
    match rerank.order(text, &passages).await {
        RerankOutcome::Scored(scores) => {
            for (hit, score) in candidates.hits.iter_mut().zip(scores) {
                hit.rerank = Some(score);
            }
        }
        RerankOutcome::Unavailable(reason) => candidates.degraded.push(format!("not reranked: {reason}")),
    }
}

/// Builds the result from the candidates.
pub(super) fn query_result(
    opened: &OpenIndex,
    query: &Query,
    candidates: Candidates,
    took: Duration,
) -> QueryResult {
    let Candidates { hits, parsed, mut degraded, suggestion, facets, model_changed } = candidates;
    if model_changed {
        degraded.push("lexical results only: the embedding model is being replaced".to_owned());
    }
    let mut ranked: Vec<(usize, CandidateHit)> = (1..).zip(hits).collect();
    ranked.sort_by(|(a_rank, a), (b_rank, b)| {
        let by_rerank = b.rerank.unwrap_or(f32::MIN).total_cmp(&a.rerank.unwrap_or(f32::MIN));
        by_rerank.then(a_rank.cmp(b_rank))
    });
    let hits = ranked
        .into_iter()
        .take(query.limit.clamp(1, MAX_RESULTS))
        .map(|(rank, candidate)| hit(rank, candidate, &parsed));
    let hits: Vec<Hit> = hits.collect();
    let searched = if hits.is_empty() { searched(opened, query) } else { IndexCoverage::default() };
    let degraded = (!degraded.is_empty()).then(|| degraded.join("; "));
    QueryResult { hits, took, degraded, suggestion, facets, searched }
}

fn hit(rank: usize, candidate: CandidateHit, parsed: &ParsedQuery) -> Hit {
    let CandidateHit { entry, fused, passage, rerank } = candidate;
    let candidate = fused.candidate;
    Hit {
        source: entry.source,
        score: fused.score,
        rerank_score: rerank,
        snippet: snippet(entry.facts.kind, &passage.text, parsed),
        heading: passage.heading,
        lines: (passage.first_line, passage.last_line),
        stages: Stages { bm25: candidate.bm25, cosine: candidate.cosine.map(|(cosine, _)| cosine), rank },
        facts: entry.facts,
    }
}

fn searched(opened: &OpenIndex, query: &Query) -> IndexCoverage {
    let memory = opened.memory();
    let admitted = memory.entries().filter(|entry| query.filter.admits(&entry.source, &entry.facts));
    let mut searched = IndexCoverage::default();
    for entry in admitted {
        searched.documents += 1;
        if !searched.sources.iter().any(|source| **source == *entry.source) {
            searched.sources.push(entry.source.to_string());
        }
        searched.synced_at = searched.synced_at.max(Some(entry.facts.synced_at));
    }
    searched.sources.sort();
    searched
}
