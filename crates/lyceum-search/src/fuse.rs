//! Score fusion of BM25 and vector search (ADR 12). Pure.
//!
//! Scores are added, not ranks: the distance between two results carries information. Every candidate has both scores,
//! whichever search found it.

use std::collections::HashMap;

use crate::page::Kind;

/// Weight of the cosine; BM25 has the rest.
pub(crate) fn weight(kind: Kind) -> f32 {
    match kind {
        Kind::Prose => 0.7,
        Kind::Code => 0.9,
    }
}

/// Minimum cosine of a page that shares no word with the query.
const MIN_COSINE: f32 = 0.15;

/// Number of top pages that are smoothed, and of neighbours used for each.
pub(crate) const SMOOTHED_PAGES: usize = 50;
const NEIGHBOURS: usize = 5;

/// Factor on the score of a page in another language than the query's. Modest: a clearly better page stays first.
pub(crate) const OTHER_LANGUAGE_FACTOR: f32 = 0.85;

/// Share of a score that comes from neighbours.
fn share(kind: Kind) -> f32 {
    match kind {
        Kind::Prose => 0.3,
        Kind::Code => 0.0,
    }
}

/// A candidate and its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub page: i64,
    pub kind: Kind,
    /// BM25 score; `None` if no query term matches.
    pub bm25: Option<f32>,
    /// Cosine and id of the nearest chunk; `None` if the page has no vectors.
    pub cosine: Option<(f32, i64)>,
}

/// A candidate with its fused score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FusedCandidate {
    pub candidate: Candidate,
    pub score: f32,
}

/// Fuses the scores of candidates; best first.
pub(crate) fn fuse(candidates: impl IntoIterator<Item = Candidate>) -> Vec<FusedCandidate> {
    let candidates: Vec<Candidate> = candidates.into_iter().collect();
    let best = candidates.iter().filter_map(|one| one.bm25).fold(0.0_f32, f32::max);
    let has_vectors = candidates.iter().any(|one| one.cosine.is_some());
    // A page that is not embedded yet gets the median cosine of the other lexical matches.
    let median_cosine = median_cosine(&candidates);
    let mut fused: Vec<FusedCandidate> = (candidates.into_iter())
        .filter(|one| one.bm25.is_some() || one.cosine.is_some_and(|(cosine, _)| cosine >= MIN_COSINE))
        .map(|candidate| {
            let bm25 = candidate.bm25.filter(|_| best > 0.0).map_or(0.0, |bm25| bm25 / best);
            let score = if has_vectors {
                let cosine = candidate.cosine.map_or(median_cosine, |(cosine, _)| cosine);
                let weight = weight(candidate.kind);
                weight * cosine + (1.0 - weight) * bm25
            } else {
                bm25
            };
            FusedCandidate { candidate, score }
        })
        .collect();
    fused.sort_by(by_score);
    fused
}

/// Smooths the scores of the best pages by those of their neighbours: a page similar to good results is likely a good
/// result. The centroids are unit vectors.
pub(crate) fn smooth(fused: &mut [FusedCandidate], centroids: &HashMap<i64, Vec<f32>>) {
    let best = fused.len().min(SMOOTHED_PAGES);
    let Some(best) = fused.get_mut(..best) else { return };
    let similarities = Similarities::of(best, centroids);
    let neighbour_scores: Vec<f32> = (0..)
        .zip(best.iter())
        .map(|(at, one)| neighbour_mean(at, best, &similarities).unwrap_or(one.score))
        .collect();
    for (one, neighbour_scores) in best.iter_mut().zip(neighbour_scores) {
        let share = share(one.candidate.kind);
        one.score = (1.0 - share) * one.score + share * neighbour_scores;
    }
    // The remaining candidates ranked below these and stay there.
    best.sort_by(by_score);
}

/// Ranks pages in another language than the query's below equally good ones; `is_foreign` tells them by page.
pub(crate) fn prefer_language(fused: &mut [FusedCandidate], is_foreign: impl Fn(i64) -> bool) {
    for one in fused.iter_mut().filter(|one| is_foreign(one.candidate.page)) {
        one.score *= OTHER_LANGUAGE_FACTOR;
    }
    fused.sort_by(by_score);
}

/// Pairwise cosines of pages; `None` if a page has no centroid.
struct Similarities {
    count: usize,
    cosines: Vec<Option<f32>>,
}

impl Similarities {
    fn of(pages: &[FusedCandidate], centroids: &HashMap<i64, Vec<f32>>) -> Self {
        let count = pages.len();
        let centroids: Vec<Option<&Vec<f32>>> =
            pages.iter().map(|page| centroids.get(&page.candidate.page)).collect();
        let mut cosines = vec![None; count * count];
        for (row, one) in centroids.iter().enumerate() {
            for (column, other) in centroids.iter().enumerate().take(row) {
                let cosine = one.zip(*other).map(|(one, other)| dot(one, other).max(0.0));
                for at in [row * count + column, column * count + row] {
                    if let Some(slot) = cosines.get_mut(at) {
                        *slot = cosine;
                    }
                }
            }
        }
        Self { count, cosines }
    }

    fn row(&self, at: usize) -> &[Option<f32>] {
        self.cosines.get(at * self.count..(at + 1) * self.count).unwrap_or_default()
    }
}

/// Mean score of the nearest neighbours of a page, weighted by cosine; `None` if it has none.
fn neighbour_mean(at: usize, best: &[FusedCandidate], similarities: &Similarities) -> Option<f32> {
    let others = similarities.row(at).iter().zip(best);
    let mut near: Vec<(f32, f32)> =
        others.filter_map(|(cosine, other)| Some(((*cosine)?, other.score))).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(NEIGHBOURS);
    let sum: f32 = near.iter().map(|(cosine, _)| cosine).sum();
    (sum > 0.0).then(|| near.iter().map(|(cosine, score)| cosine * score).sum::<f32>() / sum)
}

/// Dot product with 16 independent accumulators: a single one would serialize the additions.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.0.iter().zip(b.0) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Best first; ties in index order.
fn by_score(a: &FusedCandidate, b: &FusedCandidate) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.candidate.page.cmp(&b.candidate.page))
}

fn median_cosine(candidates: &[Candidate]) -> f32 {
    let lexical = candidates.iter().filter(|one| one.bm25.is_some());
    median(lexical.filter_map(|one| one.cosine.map(|(cosine, _)| cosine)).collect()).unwrap_or_default()
}

/// The median; `None` of nothing.
pub(crate) fn median(mut values: Vec<f32>) -> Option<f32> {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Keeps the nearest chunk of each page.
pub(crate) fn nearest_chunks(near: impl IntoIterator<Item = (i64, f32, i64)>) -> HashMap<i64, (f32, i64)> {
    let mut best: HashMap<i64, (f32, i64)> = HashMap::new();
    for (page, cosine, chunk) in near {
        let slot = best.entry(page).or_insert((cosine, chunk));
        if cosine > slot.0 {
            *slot = (cosine, chunk);
        }
    }
    best
}

#[cfg(test)]
mod tests;
