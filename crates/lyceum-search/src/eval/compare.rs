//! Paired comparison of two runs, query by query. Pure.

use std::collections::HashMap;

use serde::Serialize;

use super::{Difference, QueryScore, Report, Stage};
use crate::find::Mode;

/// Maximum number of improved and of regressed queries listed by name.
const MAX_NAMED_QUERIES: usize = 5;

/// The change in nDCG@10.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The mode compared.
    pub mode: Mode,
    /// The baseline.
    pub with: Baseline,
    /// Number of queries in both.
    pub questions: usize,
    /// Mean difference with its confidence interval.
    pub difference: Difference,
    /// Number of improved queries.
    pub better_count: usize,
    /// Number of regressed queries.
    pub worse_count: usize,
    /// The most improved queries.
    pub better: Vec<QueryChange>,
    /// The most regressed queries.
    pub worse: Vec<QueryChange>,
}

/// The baseline of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Baseline {
    /// The same mode in the last run.
    LastRun,
    /// Lexical search in this run.
    Lexical,
    /// Vector search in this run.
    Vector,
}

/// A query whose score changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryChange {
    /// Query id.
    pub id: String,
    /// Query text.
    pub text: String,
    /// nDCG@10 of the baseline.
    pub before: f64,
    /// nDCG@10 now.
    pub now: f64,
}

/// Compares a run with the last one.
pub fn with_last(report: &Report, last: &Report) -> Vec<Comparison> {
    let of_last = |mode: Mode| last.stages.iter().find(|stage| stage.mode == mode);
    let both = report.stages.iter().filter_map(|now| Some((now, of_last(now.mode)?)));
    both.filter_map(|(now, before)| compare(now, Baseline::LastRun, before)).collect()
}

/// Compares hybrid search with lexical and with vector search.
pub fn with_stages(report: &Report) -> Vec<Comparison> {
    let of = |mode: Mode| report.stages.iter().find(|stage| stage.mode == mode);
    let Some(both) = of(Mode::Hybrid) else { return Vec::new() };
    let alone = [(Mode::Lexical, Baseline::Lexical), (Mode::Vector, Baseline::Vector)];
    alone.into_iter().filter_map(|(mode, other)| compare(both, other, of(mode)?)).collect()
}

/// Compares two stages; `None` if they share no query.
fn compare(now: &Stage, with: Baseline, before: &Stage) -> Option<Comparison> {
    let known: HashMap<&str, &QueryScore> =
        before.questions.iter().map(|one| (one.id.as_str(), one)).collect();
    // A reworded query is a different query.
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
    /// Gain in nDCG@10.
    pub fn gain(&self) -> f64 {
        self.now - self.before
    }
}

#[cfg(test)]
mod tests;
