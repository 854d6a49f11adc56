//! Checks of `server_info`, the tool that always exists.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The tool's name.
pub(super) const NAME: &str = "server_info";

/// Fails unless the tool is listed.
pub(super) fn is_listed(names: &[&str]) -> Result<()> {
    ensure!(names.contains(&NAME), "tools/list does not have `{NAME}`, only {names:?}");
    Ok(())
}

/// The version in the structured result.
pub(super) fn version(structured: Option<&Value>) -> Result<&str> {
    let version = structured.and_then(|answer| answer.get("version")?.as_str());
    version.with_context(|| format!("`{NAME}` returned no `version` in structuredContent: {structured:?}"))
}
