//! Ranks skills that declare no keywords: BM25 over their texts, mixed with cosine similarity once they are embedded.
//!
//! Scores are absolute, from 0 to 1, so that one threshold says whether any skill fits. The weights and thresholds are
//! tuned on half of the tasks of `cargo xtask bench skills`; the other half is reported.

mod bm25;
mod markdown;
mod reason;
mod task;
mod text;
mod vectors;

use std::sync::Arc;

use lyceum_content::skill::{Hit, Match, SkillIndex};

use bm25::Bm25;
pub(crate) use reason::Reason;
pub(crate) use task::Task;
pub(crate) use text::{Passage, SkillText, TextHash};
pub(crate) use vectors::Coverage;
use vectors::Vectors;

/// Maximum number of candidates of an ambiguous task.
const MAX_CANDIDATES: usize = 3;

/// Weight of the cosine similarity; the rest is the lexical score.
const VECTOR_WEIGHT: f32 = 0.7;

/// When a skill fits, and when one fits clearly better than the next.
#[derive(Debug, Clone, Copy)]
struct Thresholds {
    /// Minimum score of the best skill.
    min_score: f32,
    /// The best skill is the answer if the next one scores lower by at least this.
    margin: f32,
}

/// Of the lexical score alone.
const LEXICAL: Thresholds = Thresholds { min_score: 0.19, margin: 0.12 };

/// Of the mixed score.
const HYBRID: Thresholds = Thresholds { min_score: 0.21, margin: 0.1 };

/// The skills of a set that declare no keywords, ready to be ranked.
#[derive(Debug)]
pub(crate) struct Ranker {
    /// Their positions in the index, ascending.
    skills: Vec<usize>,
    texts: Vec<Arc<SkillText>>,
    bm25: Bm25,
    vectors: Vectors,
}

/// The scores of all ranked skills for one task.
#[derive(Debug)]
pub(crate) struct Ranking<'a> {
    ranker: &'a Ranker,
    /// By place in the ranker.
    scores: Vec<f32>,
    /// The best that score above 0, best first; at most [`MAX_CANDIDATES`].
    best: Vec<Hit>,
    thresholds: Thresholds,
}

impl Ranker {
    /// Prepares the skills of an index without keywords; `text_of` finds the text of a skill by its file.
    pub(crate) fn new(
        index: &SkillIndex,
        text_of: impl Fn(&lyceum_model::RelPath) -> Option<Arc<SkillText>>,
    ) -> Self {
        let unkeyed = index.skills().iter().enumerate().filter(|(_, skill)| skill.keywords.is_empty());
        let (skills, texts): (Vec<usize>, Vec<Arc<SkillText>>) =
            unkeyed.filter_map(|(at, skill)| Some((at, text_of(&skill.file)?))).unzip();
        let bm25 = Bm25::new(&texts);
        Self { skills, texts, bm25, vectors: Vectors::default() }
    }

    /// Whether every skill declares keywords.
    pub(crate) fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The text of a skill, by position in the index; `None` if it declares keywords.
    pub(crate) fn text_of(&self, skill: usize) -> Option<&SkillText> {
        self.texts.get(self.place_of(skill)?).map(Arc::as_ref)
    }

    /// Ranks all skills for a task. `cosines` are those of [`Self::cosines`].
    pub(crate) fn rank(&self, task: &Task<'_>, cosines: Option<&[f32]>) -> Ranking<'_> {
        let mut scores = self.bm25.coverage(task);
        let thresholds = match cosines.filter(|cosines| cosines.len() == scores.len()) {
            Some(cosines) => {
                for (score, cosine) in scores.iter_mut().zip(cosines) {
                    *score = (1.0 - VECTOR_WEIGHT) * *score + VECTOR_WEIGHT * cosine.max(0.0);
                }
                HYBRID
            }
            None => LEXICAL,
        };
        Ranking { ranker: self, best: self.best(&scores), scores, thresholds }
    }

    /// The best of these scores, in one pass; of equals the first.
    fn best(&self, scores: &[f32]) -> Vec<Hit> {
        let mut best: Vec<Hit> = Vec::with_capacity(MAX_CANDIDATES + 1);
        let mut least = 0.0;
        for (skill, score) in self.skills.iter().zip(scores).filter(|(_, score)| **score > 0.0) {
            // Most are worse than the worst of the best, so rounding is rare.
            if *score < least {
                continue;
            }
            let hit = Hit { skill: *skill, score: rounded(*score) };
            best.insert(best.partition_point(|one| one.score >= hit.score), hit);
            if best.len() > MAX_CANDIDATES {
                best.truncate(MAX_CANDIDATES);
                least = best.last().map_or(0.0, |last| last.score as f32 - ROUNDING);
            }
        }
        best
    }

    fn place_of(&self, skill: usize) -> Option<usize> {
        self.skills.binary_search(&skill).ok()
    }
}

impl Ranking<'_> {
    /// The outcome, with at most `max_results` candidates.
    pub(crate) fn outcome(&self, max_results: usize) -> Match {
        let Thresholds { min_score, margin } = self.thresholds;
        let Some(best) = self.best.first().filter(|best| best.score >= f64::from(min_score)) else {
            return Match::Nothing;
        };
        let close = |hit: &&Hit| best.score - hit.score < f64::from(margin);
        let mut close: Vec<Hit> = self.best.iter().take_while(close).cloned().collect();
        if close.len() < 2 {
            return Match::One(best.clone());
        }
        close.truncate(max_results.max(1));
        Match::Ambiguous(close)
    }

    /// The score of a skill, by position in the index; `None` if it declares keywords.
    pub(crate) fn score(&self, skill: usize) -> Option<f64> {
        self.scores.get(self.ranker.place_of(skill)?).map(|score| rounded(*score))
    }
}

/// Merges the outcome of declared keywords with that of ranking. Keywords are written on purpose, so their skills come
/// first; if both match, the caller chooses.
pub(crate) fn merge(keywords: Match, ranked: Match, max_results: usize) -> Match {
    let hits = |outcome: Match| match outcome {
        Match::Nothing => Vec::new(),
        Match::Ambiguous(hits) => hits,
        Match::One(hit) => vec![hit],
    };
    match (keywords, ranked) {
        (Match::Nothing, other) | (other, Match::Nothing) => other,
        (keywords, ranked) => {
            let (mut candidates, ranked) = (hits(keywords), hits(ranked));
            // The best of the ranked is always among the candidates.
            candidates.truncate(max_results.saturating_sub(1).max(1));
            candidates.extend(ranked);
            candidates.truncate(max_results.max(2));
            Match::Ambiguous(candidates)
        }
    }
}

/// At most this much is added or removed by [`rounded`].
const ROUNDING: f32 = 0.001;

/// Three decimals: more would only look precise.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}
