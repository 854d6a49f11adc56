//! `lyceum-model.json`: what a pull wrote down about the model it prepared.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{ModelError, Variant};
use crate::embedder::Pooling;

/// The file's name.
pub(super) const CARD: &str = "lyceum-model.json";

/// What is known of a prepared model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Card {
    /// Its name, such as `all-MiniLM-L6-v2`.
    pub(super) name: String,
    /// The hash of the weights that it was made of.
    pub(super) source_sha256: String,
    /// How its numbers are kept.
    pub(super) variant: Variant,
    pub(super) pooling: Pooling,
    pub(super) dimensions: usize,
    pub(super) max_tokens: usize,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    /// The hash of `model.onnx`.
    pub(super) sha256: String,
    /// The hash of all files that vectors depend on; earlier cards have none.
    #[serde(default)]
    pub(super) files_sha256: Option<String>,
    /// What it is called at its hub and which version it is; earlier cards don't say.
    #[serde(default)]
    pub(super) repo: Option<String>,
    #[serde(default)]
    pub(super) revision: Option<String>,
}

impl Card {
    /// Writes the card into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ModelError> {
        let unwritable = |source| ModelError::Unreadable { file: CARD.to_owned(), source };
        let text = serde_json::to_vec_pretty(self).map_err(|fault| unwritable(fault.into()))?;
        fs::write(folder.join(CARD), text).map_err(unwritable)
    }
}
