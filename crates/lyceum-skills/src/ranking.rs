//! Ranks skills that declare no keywords: BM25 over their texts, mixed with cosine similarity once they are embedded.
//!
//! Scores are absolute, from 0 to 1, so that one threshold says whether any skill fits. The weights and thresholds are
//! tuned on half of the tasks of `cargo xtask bench skills`; the other half is reported.

mod bm25;
mod reason;
mod text;

use std::sync::Arc;

use lyceum_content::skill::{Hit, Match, SkillIndex};

use bm25::Bm25;
pub(crate) use reason::Reason;
pub(crate) use text::{SkillText, TextHash};

/// Maximum number of candidates of an ambiguous task.
const MAX_CANDIDATES: usize = 3;

/// Weight of the cosine similarity; the rest is the lexical score.
const VECTOR_WEIGHT: f32 = 0.6;

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
    /// Their positions in the index.
    skills: Vec<usize>,
    texts: Vec<Arc<SkillText>>,
    bm25: Bm25,
}

/// The scores of all ranked skills for one task.
#[derive(Debug)]
pub(crate) struct Ranking {
    /// The first [`MAX_CANDIDATES`] are the best, best first; the others are in no order.
    hits: Vec<Hit>,
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
        Self { skills, texts, bm25 }
    }

    /// Whether every skill declares keywords.
    pub(crate) fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The texts to embed.
    pub(crate) fn texts(&self) -> &[Arc<SkillText>] {
        &self.texts
    }

    /// Ranks all skills for a task. `cosines` has the similarity of each text of [`Self::texts`], if all are embedded.
    pub(crate) fn rank(&self, task: &str, cosines: Option<&[f32]>) -> Ranking {
        let lexical = self.bm25.coverage(task);
        let (scores, thresholds) = match cosines.filter(|cosines| cosines.len() == lexical.len()) {
            Some(cosines) => {
                let mixed = |(lexical, cosine): (&f32, &f32)| {
                    (1.0 - VECTOR_WEIGHT) * lexical + VECTOR_WEIGHT * cosine.max(0.0)
                };
                (lexical.iter().zip(cosines).map(mixed).collect(), HYBRID)
            }
            None => (lexical, LEXICAL),
        };
        let mut hits: Vec<Hit> = (self.skills.iter().zip(&scores))
            .filter(|(_, score)| **score > 0.0)
            .map(|(skill, score)| Hit { skill: *skill, score: rounded(*score) })
            .collect();
        let order =
            |one: &Hit, other: &Hit| other.score.total_cmp(&one.score).then(one.skill.cmp(&other.skill));
        if hits.len() > MAX_CANDIDATES {
            hits.select_nth_unstable_by(MAX_CANDIDATES, order);
        }
        let best = hits.len().min(MAX_CANDIDATES);
        hits.get_mut(..best).unwrap_or_default().sort_by(order);
        Ranking { hits, thresholds }
    }
}

impl Ranking {
    /// The outcome, with at most `max_results` candidates.
    pub(crate) fn outcome(&self, max_results: usize) -> Match {
        let Thresholds { min_score, margin } = self.thresholds;
        let Some(best) = self.hits.first().filter(|best| best.score >= f64::from(min_score)) else {
            return Match::Nothing;
        };
        let close = |hit: &&Hit| best.score - hit.score < f64::from(margin);
        let mut close: Vec<Hit> = self.hits.iter().take(MAX_CANDIDATES).take_while(close).cloned().collect();
        if close.len() < 2 {
            return Match::One(best.clone());
        }
        close.truncate(max_results.max(1));
        Match::Ambiguous(close)
    }

    /// The score of a skill, by position in the index; `None` if it is not among the ranked.
    pub(crate) fn score(&self, skill: usize) -> Option<f64> {
        self.hits.iter().find(|hit| hit.skill == skill).map(|hit| hit.score)
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

/// Three decimals: more would only look precise.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}
