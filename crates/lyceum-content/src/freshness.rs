//! How fresh a source is.

use jiff::Timestamp;
use lyceum_model::SourceName;
use schemars::JsonSchema;
use serde::Serialize;

/// One source and how fresh it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SourceStatus {
    /// The name in the configuration.
    #[schemars(with = "String")]
    pub name: SourceName,
    /// What can be expected of it now.
    pub state: SourceState,
    /// The commit that is served, once there is one.
    pub commit: Option<String>,
    /// When that commit was synced.
    #[schemars(with = "Option<String>")]
    pub synced_at: Option<Timestamp>,
    /// Why the last sync failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What can be expected of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Declared, and not read yet.
    Pending,
    /// What is served is what was there at `synced_at`.
    Ready,
    /// The last sync failed; what was there before is still served.
    Failed,
}

impl SourceStatus {
    /// A source that was declared and not read yet.
    pub fn pending(name: SourceName) -> Self {
        Self { name, state: SourceState::Pending, commit: None, synced_at: None, error: None }
    }
}
