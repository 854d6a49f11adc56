//! `lyceum-model.json`: the metadata that a pull writes for the prepared model.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{ModelError, Variant};
use crate::embedder::Pooling;

/// File name.
pub(super) const CARD: &str = "lyceum-model.json";

/// Metadata of a prepared model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Card {
    /// Its name, such as `all-MiniLM-L6-v2`.
    pub(super) name: String,
    /// Hash of the source weights.
    pub(super) source_sha256: String,
    /// Precision of the weights.
    pub(super) variant: Variant,
    pub(super) pooling: Pooling,
    pub(super) dimensions: usize,
    pub(super) max_tokens: usize,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    /// Hash of `model.onnx`.
    pub(super) sha256: String,
    /// Hash of all files that vectors depend on; absent in cards of earlier versions.
    #[serde(default)]
    pub(super) files_sha256: Option<String>,
    /// Name and revision on the hub; absent in cards of earlier versions.
    #[serde(default)]
    pub(super) repo: Option<String>,
    #[serde(default)]
    pub(super) revision: Option<String>,
}

impl Card {
    /// Writes the card to a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ModelError> {
        let unwritable = |source| ModelError::Unreadable { file: CARD.to_owned(), source };
        let text = serde_json::to_vec_pretty(self).map_err(|error| unwritable(error.into()))?;
        fs::write(folder.join(CARD), text).map_err(unwritable)
    }
}
