//! The classification head of a reranker: the vector of the first token becomes one logit.

use super::dense::Dense;
use crate::model::{
    ModelError,
    architecture::Architecture,
    onnx::{Attribute, Dim, Element, Graph},
    safetensors::Tensors,
};

/// Writes the classification head of a BERT or RoBERTa model with one label.
pub(super) fn write(
    graph: &mut Graph,
    tensors: &mut Tensors,
    architecture: &Architecture,
    tokens: &str,
) -> Result<(), ModelError> {
    let width = architecture.hidden_size;
    let (dense, last) = if architecture.is_roberta() {
        ("classifier.dense", "classifier.out_proj")
    } else {
        ("bert.pooler.dense", "classifier")
    };
    let zero = graph.ints("head.first", &[], &[0]);
    let first = graph.node("Gather", &[tokens, &zero], &[Attribute::Int("axis", 1)]);
    let y = Dense::read(tensors, dense, width, width)?.floats(graph, dense, &first);
    let y = graph.node("Tanh", &[&y], &[]);
    let y = Dense::read(tensors, last, width, 1)?.floats(graph, last, &y);
    graph.named_node("logits", "Identity", &[&y], &[]);
    graph.output("logits", Element::Float, &[Dim::Any("batch"), Dim::Fixed(1)]);
    Ok(())
}
