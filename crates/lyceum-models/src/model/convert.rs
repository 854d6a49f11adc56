//! Converts a BERT or XLM-R family model (`model.safetensors`, `config.json`) to ONNX.
//!
//! The graph uses operators that `rten` has fast kernels for: queries, keys and values come from one matrix product in
//! the packed layout of `MultiHeadAttention`, and int8 products are `MatMulInteger → Cast → Mul`, which it fuses. Each
//! text is its own inference, so there is no padding, and a mask only for rerankers.

mod dense;
mod encoder;
mod head;

use std::{fs::File, io::BufWriter, path::Path};

use serde::{Deserialize, Serialize};

use super::{ModelError, architecture::Architecture, onnx::Graph, safetensors::Tensors};

/// Precision of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// 32-bit floats, as published.
    Fp32,
    /// int8 weights with a scale per column; 8-bit activations with a scale per token.
    Int8,
}

/// Output of a converted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Token vectors, for an embedder.
    TokenVectors,
    /// A relevance score of a pair of texts, for a reranker. Takes a mask and, if the model has them, token types.
    Relevance,
}

/// Converts a model and writes the ONNX file.
pub(crate) fn convert(
    weights: &Path,
    config: &Path,
    variant: Variant,
    task: Task,
    to: &Path,
) -> Result<(), ModelError> {
    let architecture = Architecture::read(config)?;
    let mut tensors = Tensors::open(weights)?;
    let mut graph = Graph::default();
    let tokens = encoder::write(&mut graph, &mut tensors, &architecture, variant, task)?;
    match task {
        Task::TokenVectors => encoder::finish(&mut graph, &architecture, &tokens),
        Task::Relevance => head::write(&mut graph, &mut tensors, &architecture, &tokens)?,
    }
    let unwritable = |source| ModelError::Unreadable { file: ModelError::name_of(to), source };
    let file = File::create(to).map_err(unwritable)?;
    graph.write("lyceum", BufWriter::new(&file)).map_err(unwritable)?;
    file.sync_all().map_err(unwritable)
}

#[cfg(test)]
pub(crate) mod tests;
