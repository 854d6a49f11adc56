//! What the tools answered.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// What a task came to.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    /// The skill of this path.
    Found(String),
    /// Several skills fit.
    Ambiguous,
    /// None fits.
    Nothing,
}

/// What `get_skill` answered.
pub(super) fn of_get_skill(answer: &str) -> Result<Outcome> {
    let content = structured(answer)?;
    if content.get("no_match").is_some() {
        return Ok(Outcome::Nothing);
    }
    if content.get("ambiguous").is_some() {
        return Ok(Outcome::Ambiguous);
    }
    let path = content.get("skill_path").and_then(Value::as_str);
    path.map(|path| Outcome::Found(path.to_owned())).with_context(|| format!("no skill in {answer}"))
}

/// The structured answer of a tool that did not fail.
pub(super) fn structured(answer: &str) -> Result<Value> {
    let message: Value = serde_json::from_str(answer).with_context(|| format!("not JSON: {answer}"))?;
    let failed = message.pointer("/result/isError").is_some_and(|failed| failed == true);
    ensure!(!failed, "the tool failed: {answer}");
    message.pointer("/result/structuredContent").cloned().with_context(|| format!("no answer in {answer}"))
}

#[cfg(test)]
mod tests;
