//! Sync status of a source.

use jiff::Timestamp;
use lyceum_model::SourceName;
use schemars::JsonSchema;
use serde::Serialize;

/// Sync status of one source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SourceStatus {
    /// The name in the configuration.
    #[schemars(with = "String")]
    pub name: SourceName,
    /// The sync state.
    pub state: SourceState,
    /// The commit being served; null before the first sync.
    pub commit: Option<String>,
    /// When that commit was synced.
    #[schemars(with = "Option<String>")]
    pub synced_at: Option<Timestamp>,
    /// Why the last sync failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Sync state of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Configured, not synced yet.
    Pending,
    /// The last sync, at `synced_at`, succeeded.
    Ready,
    /// The last sync failed; the previous commit is still served.
    Failed,
}

impl SourceStatus {
    /// The status of a source before its first sync.
    pub fn pending(name: SourceName) -> Self {
        Self { name, state: SourceState::Pending, commit: None, synced_at: None, error: None }
    }
}
