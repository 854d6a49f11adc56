//! The architecture of a model, from its `config.json`.

use std::path::Path;

use serde::Deserialize;

use super::{ModelError, read_json};

/// Hyperparameters of an encoder.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Architecture {
    #[serde(default)]
    pub(super) model_type: String,
    #[serde(default)]
    pub(super) hidden_size: usize,
    #[serde(default)]
    pub(super) intermediate_size: usize,
    #[serde(default)]
    pub(super) num_attention_heads: usize,
    #[serde(default)]
    pub(super) num_hidden_layers: usize,
    #[serde(default)]
    pub(super) max_position_embeddings: usize,
    #[serde(default)]
    pub(super) pad_token_id: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    pub(super) layer_norm_eps: f32,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

impl Architecture {
    /// Reads `config.json` and checks that the architecture can be converted.
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        let architecture: Self = read_json(path)?;
        let unsupported = |what: String| Err(ModelError::Unsupported(what));
        if !architecture.is_bert() && !architecture.is_roberta() {
            return unsupported(format!("model type `{}`", architecture.model_type));
        }
        if architecture.hidden_act != "gelu" {
            return unsupported(format!("activation `{}`", architecture.hidden_act));
        }
        if architecture.position_embedding_type != "absolute" {
            return unsupported(format!(
                "position embedding type `{}`",
                architecture.position_embedding_type
            ));
        }
        let Self { hidden_size, num_attention_heads: heads, .. } = architecture;
        if heads == 0 || hidden_size == 0 || hidden_size % heads != 0 {
            return unsupported(format!("{hidden_size} dimensions with {heads} heads"));
        }
        Ok(architecture)
    }

    pub(super) fn is_roberta(&self) -> bool {
        matches!(self.model_type.as_str(), "roberta" | "xlm-roberta" | "camembert")
    }

    fn is_bert(&self) -> bool {
        self.model_type == "bert"
    }

    /// Number of unused rows at the start of the position table: RoBERTa counts positions after its padding token.
    pub(super) fn unused_positions(&self) -> usize {
        if self.is_roberta() { self.pad_token_id + 1 } else { 0 }
    }

    /// Maximum number of tokens of a text.
    pub(super) fn positions(&self) -> usize {
        self.max_position_embeddings.saturating_sub(self.unused_positions())
    }
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

fn epsilon() -> f32 {
    1e-12
}
