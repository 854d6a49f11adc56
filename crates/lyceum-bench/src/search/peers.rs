//! Other programs on the same sets: the stack that one would write in Python, and qmd. Each may be missing.

mod python;
mod qmd;

use anyhow::Result;
use serde::Deserialize;

use super::SETS;
use super::workspace::Workspace;
pub(super) use python::Python;

/// What another program found on a set.
#[derive(Debug, Deserialize)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) set: String,
    /// nDCG@10, reckoned as ours is.
    pub(super) ndcg: f64,
    /// Milliseconds for a question.
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) note: String,
}

/// Asks every peer that can be had; says why where one can't.
pub(super) fn measure(place: &Workspace) -> (Vec<Peer>, Vec<String>) {
    let (mut lines, mut missing) = (Vec::new(), Vec::new());
    let mut take = |name: &str, found: Result<Vec<Peer>>| match found {
        Ok(found) => {
            for Peer { name, set, ndcg, p50, .. } in &found {
                println!("{name} on {set}: nDCG@10 {ndcg:.3}, p50 {p50:.1} ms");
            }
            lines.extend(found);
        }
        Err(error) => {
            let reason = format!("{error:#}");
            let reason = format!("{name}: {}", reason.lines().next().unwrap_or_default());
            println!("without {reason}");
            missing.push(reason);
        }
    };
    let python = Python::install(place);
    let python =
        python.and_then(|python| SETS.iter().map(|set| python.search(&place.set(set), set)).collect());
    take("Python", python);
    let qmd = qmd::Qmd::install(place);
    take("qmd", qmd.and_then(|qmd| SETS.iter().map(|set| qmd.search(place, set)).collect()));
    (lines, missing)
}
