//! Other programs on the same test sets: a typical Python stack, and qmd. Each may be unavailable.

mod python;
mod qmd;

use anyhow::Result;
use serde::Deserialize;

use super::SETS;
use super::workspace::Workspace;
pub(super) use python::Python;

/// Results of a program on a test set.
#[derive(Debug, Deserialize)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) set: String,
    /// nDCG@10, computed like ours.
    pub(super) ndcg: f64,
    /// Latency of a query, in milliseconds.
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) note: String,
}

/// Measures every available peer; also returns why others are unavailable.
pub(super) fn measure(workspace: &Workspace) -> (Vec<Peer>, Vec<String>) {
    let (mut lines, mut missing) = (Vec::new(), Vec::new());
    let mut record = |name: &str, results: Result<Vec<Peer>>| match results {
        Ok(results) => {
            for Peer { name, set, ndcg, p50, .. } in &results {
                println!("{name} on {set}: nDCG@10 {ndcg:.3}, p50 {p50:.1} ms");
            }
            lines.extend(results);
        }
        Err(error) => {
            let reason = format!("{error:#}");
            let reason = format!("{name}: {}", reason.lines().next().unwrap_or_default());
            println!("not available: {reason}");
            missing.push(reason);
        }
    };
    let python = Python::install(workspace);
    let python =
        python.and_then(|python| SETS.iter().map(|set| python.search(&workspace.set(set), set)).collect());
    record("Python", python);
    let qmd = qmd::Qmd::install(workspace);
    record("qmd", qmd.and_then(|qmd| SETS.iter().map(|set| qmd.search(workspace, set)).collect()));
    (lines, missing)
}
