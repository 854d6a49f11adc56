//! The check of a token inside a server, by a process that does nothing else.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;

/// The longest that filling the database and all checks may take.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// What was found.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenCheckTimes {
    pub(super) tokens: u32,
    /// The database is asked.
    pub(super) never_seen: Times,
    /// Less than five seconds before.
    pub(super) seen: Times,
}

/// Microseconds.
#[derive(Deserialize)]
pub(super) struct Times {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Fills the database of a data folder with so many live tokens and checks each.
pub(super) fn run(program: &Path, data: &Path, tokens: u32, scratch: &Scratch) -> Result<TokenCheckTimes> {
    let mut command = Command::new(program);
    command.arg(data.join("auth.db")).arg(tokens.to_string());
    let output = process::output(&mut command, scratch.path(), RUN_TIMEOUT)?;
    let checked: TokenCheckTimes =
        serde_json::from_str(&output).with_context(|| format!("no figures in: {output}"))?;
    ensure!(checked.tokens == tokens, "{} tokens were checked, not {tokens}", checked.tokens);
    Ok(checked)
}
