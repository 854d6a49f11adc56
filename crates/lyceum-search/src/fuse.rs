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
        Kind::Code => 0.9,
    }
}

/// A page without any word of the question must be at least this near to it.
const FLOOR: f32 = 0.15;

/// How many of the best lend each other some of their scores, and to how many neighbours each.
pub(crate) const LENDING: usize = 50;
const NEIGHBOURS: usize = 5;

/// How much of a page's score its neighbours lend it.
fn share(kind: Kind) -> f32 {
    match kind {
        Kind::Prose => 0.3,
        Kind::Code => 0.0,
    }
}

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
    fused.sort_by(by_score);
    fused
}

/// Lets the best pages lend each other some of their scores, by how near they are to each other: what stands among good
/// answers is likely one. The centre of each page is of length one.
pub(crate) fn lend(fused: &mut [Fused], centres: &HashMap<i64, Vec<f32>>) {
    let best = fused.len().min(LENDING);
    let Some(best) = fused.get_mut(..best) else { return };
    let nearness = Nearness::of(best, centres);
    let lent: Vec<f32> =
        (0..).zip(best.iter()).map(|(at, one)| lent(at, best, &nearness).unwrap_or(one.score)).collect();
    for (one, lent) in best.iter_mut().zip(lent) {
        let share = share(one.candidate.kind);
        one.score = (1.0 - share) * one.score + share * lent;
    }
    // The others were behind all of these, and stay there.
    best.sort_by(by_score);
}

/// How near pages are to each other, as cosines: a row for each, with nothing where a page has no centre.
struct Nearness {
    count: usize,
    cosines: Vec<Option<f32>>,
}

impl Nearness {
    fn of(pages: &[Fused], centres: &HashMap<i64, Vec<f32>>) -> Self {
        let count = pages.len();
        let centres: Vec<Option<&Vec<f32>>> =
            pages.iter().map(|page| centres.get(&page.candidate.page)).collect();
        let mut cosines = vec![None; count * count];
        for (row, one) in centres.iter().enumerate() {
            for (column, other) in centres.iter().enumerate().take(row) {
                let cosine = one.zip(*other).map(|(one, other)| dot(one, other).max(0.0));
                for at in [row * count + column, column * count + row] {
                    if let Some(place) = cosines.get_mut(at) {
                        *place = cosine;
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

/// The scores of a page's nearest neighbours, by how near they are; nothing where it has none.
fn lent(at: usize, best: &[Fused], nearness: &Nearness) -> Option<f32> {
    let others = nearness.row(at).iter().zip(best);
    let mut near: Vec<(f32, f32)> =
        others.filter_map(|(cosine, other)| Some(((*cosine)?, other.score))).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(NEIGHBOURS);
    let sum: f32 = near.iter().map(|(cosine, _)| cosine).sum();
    (sum > 0.0).then(|| near.iter().map(|(cosine, score)| cosine * score).sum::<f32>() / sum)
}

/// The product of two vectors, as several sums side by side: one alone waits for each addition before the next.
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

/// The best first; of equals, the one that came into the index first.
fn by_score(a: &Fused, b: &Fused) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.candidate.page.cmp(&b.candidate.page))
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
