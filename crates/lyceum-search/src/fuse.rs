//! Fusion: what words say of a page and what vectors say of it, as one score (ADR 12). Pure.
//!
//! Scores are added, not ranks: how much better the first is than the second says something. Every candidate has both of
//! its scores, whichever of the two found it.

use std::collections::HashMap;

use crate::page::Kind;

/// How much meaning counts; words count for the rest.
fn weight(kind: Kind) -> f32 {
    match kind {
        Kind::Prose => 0.7,
        Kind::Code => 0.8,
    }
}

/// A page without any word of the question must be at least this near to it.
const FLOOR: f32 = 0.15;

/// What is known of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub page: i64,
    pub kind: Kind,
    /// What its words are worth; nothing where it has none of them.
    pub words: Option<f32>,
    /// How near its nearest chunk is, and which that is; nothing where it has no vectors.
    pub meaning: Option<(f32, i64)>,
}

/// A candidate with its one score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fused {
    pub candidate: Candidate,
    pub score: f32,
}

/// The candidates, the best first.
pub(crate) fn fuse(candidates: impl IntoIterator<Item = Candidate>) -> Vec<Fused> {
    let candidates: Vec<Candidate> = candidates.into_iter().collect();
    let best = candidates.iter().filter_map(|one| one.words).fold(0.0_f32, f32::max);
    let has_meaning = candidates.iter().any(|one| one.meaning.is_some());
    // A page whose vectors are still to come is taken for as near as the middle of those that share its words.
    let middle = middle(&candidates);
    let mut fused: Vec<Fused> = (candidates.into_iter())
        .filter(|one| one.words.is_some() || one.meaning.is_some_and(|(cosine, _)| cosine >= FLOOR))
        .map(|candidate| {
            let words = candidate.words.filter(|_| best > 0.0).map_or(0.0, |words| words / best);
            let score = if has_meaning {
                let meaning = candidate.meaning.map_or(middle, |(cosine, _)| cosine);
                let weight = weight(candidate.kind);
                weight * meaning + (1.0 - weight) * words
            } else {
                words
            };
            Fused { candidate, score }
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.page.cmp(&b.candidate.page)));
    fused
}

fn middle(candidates: &[Candidate]) -> f32 {
    let with_words = candidates.iter().filter(|one| one.words.is_some());
    let mut near: Vec<f32> = with_words.filter_map(|one| one.meaning.map(|(cosine, _)| cosine)).collect();
    near.sort_by(f32::total_cmp);
    near.get(near.len() / 2).copied().unwrap_or_default()
}

/// The nearest chunk of each page.
pub(crate) fn nearest_chunks(near: impl IntoIterator<Item = (i64, f32, i64)>) -> HashMap<i64, (f32, i64)> {
    let mut best: HashMap<i64, (f32, i64)> = HashMap::new();
    for (page, cosine, chunk) in near {
        let place = best.entry(page).or_insert((cosine, chunk));
        if cosine > place.0 {
            *place = (cosine, chunk);
        }
    }
    best
}

#[cfg(test)]
mod tests;
