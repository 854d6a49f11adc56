//! Token validation, timed by the example `token_check` in a separate process.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;

/// Timeout for filling the database and all validations.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// The output of `token_check`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenCheckTimes {
    pub(super) tokens: u32,
    /// Tokens that are not cached.
    pub(super) never_seen: Times,
    /// Cached tokens.
    pub(super) seen: Times,
}

/// Quantiles in microseconds.
#[derive(Deserialize)]
pub(super) struct Times {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Fills the database with live tokens and validates each.
pub(super) fn run(program: &Path, data: &Path, tokens: u32, scratch: &Scratch) -> Result<TokenCheckTimes> {
    let mut command = Command::new(program);
    command.arg(data.join("auth.db")).arg(tokens.to_string());
    let output = process::output(&mut command, scratch.path(), RUN_TIMEOUT)?;
    let checked: TokenCheckTimes =
        serde_json::from_str(&output).with_context(|| format!("invalid output: {output}"))?;
    ensure!(checked.tokens == tokens, "{} tokens were validated, expected {tokens}", checked.tokens);
    Ok(checked)
}
