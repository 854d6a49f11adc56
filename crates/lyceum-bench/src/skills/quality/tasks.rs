//! The tasks, from `tasks.toml` and `held_out.toml`.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// All tasks.
pub(crate) struct Tasks {
    /// Weights and thresholds are tuned on these.
    pub(super) tune: Vec<Task>,
    /// These are only measured.
    pub(super) report: Vec<Task>,
    /// These are only measured, and as oblique as those to tune on.
    pub(super) held_out: Vec<Task>,
}

/// A task, and the skills that are right for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    pub(super) task: String,
    /// Paths; empty if no skill fits.
    pub(super) skills: Vec<String>,
    /// Why more than one skill is right.
    #[serde(default)]
    pub(super) reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TunedAndReported {
    tune: Vec<Task>,
    report: Vec<Task>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldOut {
    task: Vec<Task>,
}

/// Parses the tasks.
pub(super) fn tasks() -> Result<Tasks> {
    let TunedAndReported { tune, report } =
        toml::from_str(include_str!("tasks.toml")).context("tasks.toml is invalid")?;
    let HeldOut { task } =
        toml::from_str(include_str!("held_out.toml")).context("held_out.toml is invalid")?;
    for one in &task {
        ensure!(
            (one.skills.len() > 1) != one.reason.is_empty(),
            "held_out.toml: give a `reason` if several skills are right, and only then: {:?}",
            one.task
        );
    }
    Ok(Tasks { tune, report, held_out: task })
}
