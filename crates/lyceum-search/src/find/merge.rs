//! Merges the results of several indexes into one ranking. Pure.
//!
//! BM25 scores of two indexes differ in scale: a rare term weighs more in the larger one. Divided by the IDF mass of
//! the query (what a document with every term would get) they say how much of the query a document explains, which is
//! comparable. Cosines are comparable as they are, if both indexes use the same model.

use lyceum_content::language;

use super::{Facets, Hit, IndexCoverage, MAX_RESULTS, QueryResult};
use crate::{
    fuse::{OTHER_LANGUAGE_FACTOR, median, weight},
    lexical::ParsedQuery,
};

/// The result of one index, to be merged.
#[derive(Debug, Clone)]
pub struct IndexResult<T> {
    /// The index.
    pub origin: T,
    /// Its result.
    pub result: QueryResult,
    /// IDF mass of the query in this index; see [`Search::idf_mass`](crate::Search::idf_mass).
    pub idf_mass: f32,
}

/// The merged result: hits with the index they come from, best first.
#[derive(Debug, Clone)]
pub struct MergedResult<T> {
    /// The hits, best first.
    pub hits: Vec<(T, Hit)>,
    /// Why the result may be worse than usual.
    pub degraded: Option<String>,
    /// The query with words corrected that no index contains.
    pub suggestion: Option<String>,
    /// Facet counts, if they were requested.
    pub facets: Option<Facets>,
    /// What was searched; without hits only.
    pub searched: IndexCoverage,
}

/// Merges the results of a query in several indexes.
pub fn merge<T: Clone>(text: &str, results: Vec<IndexResult<T>>, limit: usize) -> MergedResult<T> {
    let mut merged = MergedResult {
        hits: Vec::new(),
        degraded: degraded(&results),
        suggestion: suggestion(&results),
        facets: None,
        searched: IndexCoverage::default(),
    };
    let wanted = ParsedQuery::of(text).language;
    let scale = Scale::of(&results);
    for IndexResult { origin, result, idf_mass } in results {
        merged.searched.add(result.searched);
        if let Some(facets) = result.facets {
            merged.facets.get_or_insert_default().add(facets);
        }
        for mut hit in result.hits {
            let is = hit.facts.language.as_deref();
            let is_foreign =
                wanted.zip(is).is_some_and(|(wanted, language)| !language::matches(wanted, language));
            let factor = if is_foreign { OTHER_LANGUAGE_FACTOR } else { 1.0 };
            hit.score = factor * scale.score(&hit, idf_mass);
            merged.hits.push((origin.clone(), hit));
        }
    }
    merged.hits.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    for (rank, (_, hit)) in (1..).zip(&mut merged.hits) {
        hit.stages.rank = rank;
    }
    // The sort is stable: hits without a reranker's score keep their order, below those with one.
    merged.hits.sort_by(|(_, a), (_, b)| {
        b.rerank_score.unwrap_or(f32::MIN).total_cmp(&a.rerank_score.unwrap_or(f32::MIN))
    });
    merged.hits.truncate(limit.clamp(1, MAX_RESULTS));
    if !merged.hits.is_empty() {
        merged.searched = IndexCoverage::default();
    }
    merged
}

/// What the scores of all indexes are measured against.
struct Scale {
    /// The highest share of the query that a hit explains.
    best_share: f32,
    /// The cosine of a hit without vectors; `None` if no hit has any.
    median_cosine: Option<f32>,
}

impl Scale {
    fn of<T>(results: &[IndexResult<T>]) -> Self {
        let hits = || results.iter().flat_map(|one| one.result.hits.iter().map(|hit| (hit, one.idf_mass)));
        let best_share = hits().filter_map(|(hit, mass)| share(hit, mass)).fold(0.0, f32::max);
        let median_cosine = median(hits().filter_map(|(hit, _)| hit.stages.cosine).collect());
        Self { best_share, median_cosine }
    }

    /// The fused score of a hit, as in a single index (ADR 12) but without smoothing.
    fn score(&self, hit: &Hit, idf_mass: f32) -> f32 {
        let share = share(hit, idf_mass).filter(|_| self.best_share > 0.0);
        let lexical = share.map_or(0.0, |share| share / self.best_share);
        match hit.stages.cosine.or(self.median_cosine) {
            Some(cosine) => {
                let weight = weight(hit.facts.kind);
                weight * cosine + (1.0 - weight) * lexical
            }
            None => lexical,
        }
    }
}

/// The share of the query that a hit explains.
fn share(hit: &Hit, idf_mass: f32) -> Option<f32> {
    hit.stages.bm25.filter(|_| idf_mass > 0.0).map(|bm25| bm25 / idf_mass)
}

fn degraded<T>(results: &[IndexResult<T>]) -> Option<String> {
    let mut reasons: Vec<&str> = results.iter().filter_map(|one| one.result.degraded.as_deref()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The first suggestion, if every index has one: a word that one of them contains is no typo.
fn suggestion<T>(results: &[IndexResult<T>]) -> Option<String> {
    let all: Option<Vec<&String>> = results.iter().map(|one| one.result.suggestion.as_ref()).collect();
    all?.first().map(|suggestion| (*suggestion).clone())
}

#[cfg(test)]
mod tests;
