//! What differs between two ways of finding, question by question. Pure.

use std::collections::HashMap;

use serde::Serialize;

use super::{Difference, QueryScore, Report, Stage};
use crate::find::Mode;

/// How many questions are named that got better, and how many that got worse.
const MAX_NAMED_QUERIES: usize = 5;

/// What nDCG@10 has gained or lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The one that is compared.
    pub mode: Mode,
    /// What it is compared with.
    pub with: Baseline,
    /// How many questions both were asked.
    pub questions: usize,
    /// The mean difference, with its interval.
    pub difference: Difference,
    /// How many of them did better.
    pub better_count: usize,
    /// How many did worse.
    pub worse_count: usize,
    /// Those that gained the most.
    pub better: Vec<QueryChange>,
    /// Those that lost the most.
    pub worse: Vec<QueryChange>,
}

/// What a run is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Baseline {
    /// The same, the last time.
    LastRun,
    /// Words only, in this run.
    Lexical,
    /// Meaning only, in this run.
    Vector,
}

/// A question that is answered better or worse.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryChange {
    /// Its id.
    pub id: String,
    /// The question itself.
    pub text: String,
    /// nDCG@10 of what it is compared with.
    pub before: f64,
    /// nDCG@10.
    pub now: f64,
}

/// A run and the one before it.
pub fn with_last(report: &Report, last: &Report) -> Vec<Comparison> {
    let of_last = |mode: Mode| last.stages.iter().find(|stage| stage.mode == mode);
    let both = report.stages.iter().filter_map(|now| Some((now, of_last(now.mode)?)));
    both.filter_map(|(now, before)| compare(now, Baseline::LastRun, before)).collect()
}

/// Words and meaning together, and each of the two alone.
pub fn with_stages(report: &Report) -> Vec<Comparison> {
    let of = |mode: Mode| report.stages.iter().find(|stage| stage.mode == mode);
    let Some(both) = of(Mode::Hybrid) else { return Vec::new() };
    let alone = [(Mode::Lexical, Baseline::Lexical), (Mode::Vector, Baseline::Vector)];
    alone.into_iter().filter_map(|(mode, other)| compare(both, other, of(mode)?)).collect()
}

/// Nothing where they share no question.
fn compare(now: &Stage, with: Baseline, before: &Stage) -> Option<Comparison> {
    let known: HashMap<&str, &QueryScore> =
        before.questions.iter().map(|one| (one.id.as_str(), one)).collect();
    // A question that was put in other words is another one.
    let pairs = now.questions.iter().filter_map(|one| {
        let before = known.get(one.id.as_str()).filter(|before| before.text == one.text)?;
        Some(QueryChange { id: one.id.clone(), text: one.text.clone(), before: before.ndcg, now: one.ndcg })
    });
    let mut pairs: Vec<QueryChange> = pairs.collect();
    if pairs.is_empty() {
        return None;
    }
    let difference = Difference::of(&pairs.iter().map(QueryChange::gain).collect::<Vec<_>>());
    let questions = pairs.len();
    pairs.retain(|one| one.gain().abs() > 1e-9);
    pairs.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
    let better_count = pairs.iter().filter(|one| one.gain() > 0.0).count();
    let worse_count = pairs.len() - better_count;
    let better = pairs.iter().take(MAX_NAMED_QUERIES.min(better_count)).cloned().collect();
    let worse = pairs.iter().rev().take(MAX_NAMED_QUERIES.min(worse_count)).cloned().collect();
    Some(Comparison { mode: now.mode, with, questions, difference, better_count, worse_count, better, worse })
}

impl QueryChange {
    /// How much better it is.
    pub fn gain(&self) -> f64 {
        self.now - self.before
    }
}

#[cfg(test)]
mod tests;
