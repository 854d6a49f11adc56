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
    /// What else could be asked for, where it was to be counted.
    pub facets: Option<Facets>,
    /// What was searched.
    pub searched: IndexCoverage,
}

/// A page that matches a query.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The source it comes from.
    pub source: Arc<str>,
    /// What is known of it.
    pub facts: Arc<Facts>,
    /// The score that it was ordered by before reranking.
    pub score: f32,
    /// The reranker's score.
    pub rerank_score: Option<f32>,
    /// The passage, with the words of the question marked.
    pub snippet: String,
    /// The headings around the passage.
    pub heading: String,
    /// Its first and last line in the file.
    pub lines: (i64, i64),
    /// What each stage said.
    pub stages: Stages,
}

/// What each stage said of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stages {
    /// BM25 score.
    pub bm25: Option<f32>,
    /// Cosine of its nearest chunk.
    pub cosine: Option<f32>,
    /// Rank before reranking, from 1.
    pub rank: usize,
}

/// How many of the pages that share words with the question there are of each kind, the most first.
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
}

/// What was searched, and how fresh it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexCoverage {
    /// How many pages.
    pub documents: usize,
    /// The sources they are from.
    pub sources: Vec<String>,
    /// When the newest of them was synced.
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
        facts.status.iter().for_each(|status| add(&mut self.statuses, status));
    }
}

/// Has the candidates ordered once more, where there is a reranker.
pub(super) async fn rerank(opened: &OpenIndex, text: &str, candidates: &mut Candidates) {
    let Some(rerank) = &opened.rerank else { return };
    if candidates.found.is_empty() {
        return;
    }
    let passages: Vec<String> = (candidates.found.iter().take(MAX_RESULTS))
        .map(|found| format!("{}\n{}", found.card.facts.title, found.passage.text))
        .collect();
    match rerank.order(text, &passages).await {
        RerankOutcome::Scored(scores) => {
            for (found, score) in candidates.found.iter_mut().zip(scores) {
                found.rerank = Some(score);
            }
        }
        RerankOutcome::Unavailable(reason) => candidates.degraded.push(format!("not reranked: {reason}")),
    }
}

/// The answer of what was found.
pub(super) fn query_result(
    opened: &OpenIndex,
    query: &Query,
    candidates: Candidates,
    took: Duration,
) -> QueryResult {
    let Candidates { found, words, mut degraded, suggestion, facets, is_exchanged } = candidates;
    if is_exchanged {
        degraded.push("lexical results only: the embedding model is being replaced".to_owned());
    }
    let mut ranked: Vec<(usize, CandidateHit)> = (1..).zip(found).collect();
    ranked.sort_by(|(a_rank, a), (b_rank, b)| {
        let by_rerank = b.rerank.unwrap_or(f32::MIN).total_cmp(&a.rerank.unwrap_or(f32::MIN));
        by_rerank.then(a_rank.cmp(b_rank))
    });
    let hits = ranked
        .into_iter()
        .take(query.limit.clamp(1, MAX_RESULTS))
        .map(|(rank, found)| hit(rank, found, &words));
    let hits: Vec<Hit> = hits.collect();
    let searched = if hits.is_empty() { searched(opened, query) } else { IndexCoverage::default() };
    let degraded = (!degraded.is_empty()).then(|| degraded.join("; "));
    QueryResult { hits, took, degraded, suggestion, facets, searched }
}

fn hit(rank: usize, found: CandidateHit, words: &ParsedQuery) -> Hit {
    let CandidateHit { card, fused, passage, rerank } = found;
    let candidate = fused.candidate;
    Hit {
        source: card.source,
        score: fused.score,
        rerank_score: rerank,
        snippet: snippet(card.facts.kind, &passage.text, words),
        heading: passage.heading,
        lines: (passage.first_line, passage.last_line),
        stages: Stages { bm25: candidate.bm25, cosine: candidate.cosine.map(|(cosine, _)| cosine), rank },
        facts: card.facts,
    }
}

fn searched(opened: &OpenIndex, query: &Query) -> IndexCoverage {
    let memory = opened.memory();
    let admitted = memory.cards().filter(|card| query.filter.admits(&card.source, &card.facts));
    let mut searched = IndexCoverage::default();
    for card in admitted {
        searched.documents += 1;
        if !searched.sources.iter().any(|source| **source == *card.source) {
            searched.sources.push(card.source.to_string());
        }
        searched.synced_at = searched.synced_at.max(Some(card.facts.synced_at));
    }
    searched.sources.sort();
    searched
}
