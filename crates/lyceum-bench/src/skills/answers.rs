//! Parses tool results.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Outcome of a task.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// The matched skill's path.
    Match(String),
    /// Several skills match.
    Ambiguous,
    /// No skill matches.
    NoMatch,
}

/// Parses the result of `get_skill`.
pub(super) fn parse_get_skill(response: &str) -> Result<Outcome> {
    let content = structured(response)?;
    if content.get("no_match").is_some() {
        return Ok(Outcome::NoMatch);
    }
    if content.get("ambiguous").is_some() {
        return Ok(Outcome::Ambiguous);
    }
    let path = content.get("skill_path").and_then(Value::as_str);
    path.map(|path| Outcome::Match(path.to_owned())).with_context(|| format!("no skill in {response}"))
}

/// The structured content of a successful tool result.
pub(super) fn structured(response: &str) -> Result<Value> {
    let message: Value = serde_json::from_str(response).with_context(|| format!("not JSON: {response}"))?;
    let failed = message.pointer("/result/isError").is_some_and(|failed| failed == true);
    ensure!(!failed, "the tool failed: {response}");
    message
        .pointer("/result/structuredContent")
        .cloned()
        .with_context(|| format!("no structured content in {response}"))
}

#[cfg(test)]
mod tests;
