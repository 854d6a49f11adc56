//! `lyceum eval` on the test sets.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::SETS;
use super::program::Program;
use super::workspace::Workspace;

/// Goals for nDCG@10 of hybrid search.
const GOALS: [(&str, f64); 2] = [("cosqa-dev", 0.81), ("cranfield", 0.43)];

/// The used part of the result of `lyceum eval` for one test set.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetEvaluation {
    pub(super) report: Evaluation,
    pub(super) compared_with_stages: Vec<Comparison>,
    not_asked: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Evaluation {
    pub(super) set: String,
    pub(super) stages: Vec<Stage>,
    model: Option<Model>,
}

#[derive(Deserialize)]
struct Model {
    name: String,
}

#[derive(Deserialize)]
pub(super) struct Stage {
    pub(super) mode: String,
    pub(super) ndcg: Mean,
    pub(super) mrr: Mean,
    pub(super) recall: Mean,
    pub(super) hit: Mean,
    pub(super) latency: Latency,
}

#[derive(Deserialize)]
pub(super) struct Mean {
    pub(super) mean: f64,
    pub(super) noise: f64,
}

#[derive(Deserialize)]
pub(super) struct Latency {
    pub(super) p50: f64,
    pub(super) p95: f64,
}

#[derive(Deserialize)]
pub(super) struct Comparison {
    pub(super) with: String,
    pub(super) difference: Difference,
}

#[derive(Deserialize)]
pub(super) struct Difference {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Evaluation {
    /// The goal for nDCG@10, if any.
    pub(super) fn goal(&self) -> Option<f64> {
        GOALS.iter().find(|(name, _)| *name == self.set).map(|(_, goal)| *goal)
    }

    /// The model that was used.
    pub(super) fn model(&self) -> &str {
        self.model.as_ref().map_or("no model", |model| &model.name)
    }
}

/// Evaluates all test sets.
pub(super) fn measure(program: &Program, workspace: &Workspace) -> Result<Vec<SetEvaluation>> {
    println!("evaluating {}", SETS.join(" and "));
    let output = program.eval(&SETS.map(|set| workspace.set(set)), &workspace.folder("eval")?)?;
    let all = parse(output)?;
    for one in &all {
        if let Some(reason) = &one.not_asked {
            anyhow::bail!("vector search was not available: {reason}");
        }
        for stage in &one.report.stages {
            println!("{}: {} nDCG@10 {:.3}", one.report.set, stage.mode, stage.ndcg.mean);
        }
    }
    Ok(all)
}

fn parse(output: Value) -> Result<Vec<SetEvaluation>> {
    serde_json::from_value(output).context("unexpected output of `lyceum eval`")
}
