//! Turns the weights of a BERT or XLM-R family model (`model.safetensors`, `config.json`) into an ONNX file.
//!
//! The graph is written in the operators that `rten` has a fast form of: queries, keys and values come out of one
//! product in the packed layout of `MultiHeadAttention`, and 8-bit products as `MatMulInteger → Cast → Mul`, which it
//! fuses. One text is one run, so there is no padding and no mask unless asked for.

mod dense;
mod encoder;
mod head;

use std::{fs::File, io::BufWriter, path::Path};

use serde::{Deserialize, Serialize};

use super::{ModelError, architecture::Architecture, onnx::Graph, safetensors::Tensors};

/// How the numbers of a model are kept and multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// As they were published: floats of 32 bits.
    Fp32,
    /// Weights of 8 bits, a scale for each column; activations of 8 bits, a scale for each text.
    Int8,
}

/// What a written model gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// The vectors of the tokens, for an embedder.
    Tokens,
    /// One figure for a pair of texts, for a reranker. Takes a mask and, where the model has them, token types.
    Relevance,
}

/// Writes the ONNX file of a model.
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
        Task::Tokens => encoder::finish(&mut graph, &architecture, &tokens),
        Task::Relevance => head::write(&mut graph, &mut tensors, &architecture, &tokens)?,
    }
    let unwritable = |source| ModelError::Unreadable { file: ModelError::name_of(to), source };
    let file = File::create(to).map_err(unwritable)?;
    graph.write("lyceum", BufWriter::new(&file)).map_err(unwritable)?;
    file.sync_all().map_err(unwritable)
}

#[cfg(test)]
pub(crate) mod tests;
