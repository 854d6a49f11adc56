//! The tasks, from `tasks.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;

/// All tasks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tasks {
    /// Weights and thresholds are tuned on these.
    pub(super) tune: Vec<Task>,
    /// These are only measured.
    pub(super) report: Vec<Task>,
}

/// A task, and the skills that are right for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    pub(super) task: String,
    /// Paths; empty if no skill fits.
    pub(super) skills: Vec<String>,
}

/// Parses the tasks.
pub(super) fn tasks() -> Result<Tasks> {
    toml::from_str(include_str!("tasks.toml")).context("tasks.toml is invalid")
}
