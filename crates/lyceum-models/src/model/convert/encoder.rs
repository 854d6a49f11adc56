//! The encoder: token ids → embeddings → transformer layers.

use super::{
    Task, Variant,
    dense::{Dense, ProductInput, quantize},
};
use crate::model::{
    ModelError,
    architecture::Architecture,
    onnx::{Attribute, Dim, Element, Graph},
    safetensors::Tensors,
};

const BATCH: Dim = Dim::Any("batch");
const SEQUENCE: Dim = Dim::Any("sequence");

/// Writes the encoder and returns the name of the token vectors.
pub(super) fn write(
    graph: &mut Graph,
    tensors: &mut Tensors,
    architecture: &Architecture,
    variant: Variant,
    task: Task,
) -> Result<String, ModelError> {
    let prefix = prefix(tensors)?;
    graph.input("input_ids", Element::Int64, &[BATCH, SEQUENCE]);
    let mask = match task {
        Task::TokenVectors => "",
        Task::Relevance => {
            graph.input("attention_mask", Element::Int64, &[BATCH, SEQUENCE]);
            "attention_mask"
        }
    };
    let mut x = embeddings(graph, tensors, architecture, &prefix, variant, task)?;
    for layer in 0..architecture.num_hidden_layers {
        let name = format!("{prefix}encoder.layer.{layer}");
        x = write_layer(graph, tensors, architecture, &name, &x, mask, variant)?;
    }
    Ok(x)
}

/// Declares the token vectors as the output of the graph.
pub(super) fn finish(graph: &mut Graph, architecture: &Architecture, tokens: &str) {
    graph.named_node("last_hidden_state", "Identity", &[tokens], &[]);
    let dims = [BATCH, SEQUENCE, Dim::Fixed(architecture.hidden_size)];
    graph.output("last_hidden_state", Element::Float, &dims);
}

/// Name prefix of the encoder's tensors; models with a task head have one.
fn prefix(tensors: &Tensors) -> Result<String, ModelError> {
    ["", "bert.", "roberta."]
        .into_iter()
        .find(|prefix| tensors.has(&format!("{prefix}embeddings.word_embeddings.weight")))
        .map(str::to_owned)
        .ok_or_else(|| ModelError::Unsupported("a model without word embeddings".to_owned()))
}

fn embeddings(
    graph: &mut Graph,
    tensors: &mut Tensors,
    architecture: &Architecture,
    prefix: &str,
    variant: Variant,
    task: Task,
) -> Result<String, ModelError> {
    let width = architecture.hidden_size;
    let name = format!("{prefix}embeddings");
    let word_embeddings = word_embeddings(graph, tensors, &name, width, variant)?;
    let types = tensors.floats(&format!("{name}.token_type_embeddings.weight"), &[0, width])?;
    let mut positions = tensors
        .floats(&format!("{name}.position_embeddings.weight"), &[0, width])?
        .data
        .split_off(architecture.unused_positions() * width);
    let has_types = task == Task::Relevance && types.shape.first().is_some_and(|count| *count > 1);
    if !has_types {
        // All tokens have type 0, so its vector is folded into the position embeddings.
        for position in positions.chunks_mut(width) {
            for (x, type_value) in position.iter_mut().zip(&types.data) {
                *x += type_value;
            }
        }
    }
    let rows = positions.len() / width;
    let table = graph.floats(&format!("{name}.positions"), &[rows, width], &positions);
    let positions = first_positions(graph, &table);
    let mut x = graph.node("Add", &[&word_embeddings, &positions], &[]);
    if has_types {
        graph.input("token_type_ids", Element::Int64, &[BATCH, SEQUENCE]);
        let table = graph.floats(&format!("{name}.types"), &types.shape, &types.data);
        let types = graph.node("Gather", &[&table, "token_type_ids"], &[]);
        x = graph.node("Add", &[&x, &types], &[]);
    }
    layer_norm(graph, tensors, architecture, &format!("{name}.LayerNorm"), &x)
}

/// Word embeddings. In int8 each row has its own scale, and only the rows of the text are dequantized.
fn word_embeddings(
    graph: &mut Graph,
    tensors: &mut Tensors,
    name: &str,
    width: usize,
    variant: Variant,
) -> Result<String, ModelError> {
    let table = tensors.floats(&format!("{name}.word_embeddings.weight"), &[0, width])?;
    let name = format!("{name}.words");
    match variant {
        Variant::Fp32 => {
            let table = graph.floats(&name, &table.shape, &table.data);
            Ok(graph.node("Gather", &[&table, "input_ids"], &[]))
        }
        Variant::Int8 => {
            let scales: Vec<f32> = table
                .data
                .chunks(width)
                .map(|row| row.iter().fold(f32::MIN_POSITIVE, |max, x| max.max(x.abs())) / 127.0)
                .collect();
            let bytes: Vec<i8> = table
                .data
                .chunks(width)
                .zip(&scales)
                .flat_map(|(row, scale)| row.iter().map(|x| quantize(*x, *scale)))
                .collect();
            let bytes = graph.bytes(&name, &table.shape, &bytes);
            let scales = graph.floats(&format!("{name}.scale"), &[scales.len(), 1], &scales);
            let bytes = graph.node("Gather", &[&bytes, "input_ids"], &[]);
            let scales = graph.node("Gather", &[&scales, "input_ids"], &[]);
            let floats = graph.node("Cast", &[&bytes], &[Attribute::Int("to", Element::Float as i64)]);
            Ok(graph.node("Mul", &[&floats, &scales], &[]))
        }
    }
}

/// The first rows of a table, one per token.
fn first_positions(graph: &mut Graph, table: &str) -> String {
    let shape = graph.node("Shape", &["input_ids"], &[]);
    let zero = graph.ints("positions.from", &[1], &[0]);
    let one = graph.ints("positions.side", &[1], &[1]);
    let length = graph.node("Gather", &[&shape, &one], &[]);
    graph.node("Slice", &[table, &zero, &length, &zero], &[])
}

fn write_layer(
    graph: &mut Graph,
    tensors: &mut Tensors,
    architecture: &Architecture,
    name: &str,
    x: &str,
    mask: &str,
    variant: Variant,
) -> Result<String, ModelError> {
    let (width, intermediate) = (architecture.hidden_size, architecture.intermediate_size);
    let attended = attention(graph, tensors, architecture, name, x, mask, variant)?;
    let output = format!("{name}.attention.output");
    let dense = Dense::read(tensors, &format!("{output}.dense"), width, width)?;
    let y = dense.write(graph, &format!("{output}.dense"), ProductInput::Any(&attended), variant);
    let y = graph.node("Add", &[&y, x], &[]);
    let x = layer_norm(graph, tensors, architecture, &format!("{output}.LayerNorm"), &y)?;

    let up = format!("{name}.intermediate.dense");
    let y = Dense::read(tensors, &up, width, intermediate)?.write(graph, &up, ProductInput::Any(&x), variant);
    let y = graph.node("Gelu", &[&y], &[]);
    let down = format!("{name}.output.dense");
    let y = Dense::read(tensors, &down, intermediate, width)?.write(
        graph,
        &down,
        ProductInput::Gelu(&y),
        variant,
    );
    let y = graph.node("Add", &[&y, &x], &[]);
    layer_norm(graph, tensors, architecture, &format!("{name}.output.LayerNorm"), &y)
}

/// Queries, keys and values by one matrix product, interleaved by head, so that attention needs no copy.
fn attention(
    graph: &mut Graph,
    tensors: &mut Tensors,
    architecture: &Architecture,
    name: &str,
    x: &str,
    mask: &str,
    variant: Variant,
) -> Result<String, ModelError> {
    let (width, heads) = (architecture.hidden_size, architecture.num_attention_heads);
    let name = format!("{name}.attention.self");
    let mut parts = Vec::new();
    for part in ["query", "key", "value"] {
        parts.push(Dense::read(tensors, &format!("{name}.{part}"), width, width)?);
    }
    let head = width / heads;
    let packed = packed(&parts, width, head);
    let y = packed.write(graph, &format!("{name}.packed"), ProductInput::Any(x), variant);
    let dims = [0, 0, heads as i64, 3, head as i64];
    let shape = graph.ints(&format!("{name}.shape"), &[dims.len()], &dims);
    let y = graph.node("Reshape", &[&y, &shape], &[]);
    let inputs = [y.as_str(), "", "", "", mask];
    let inputs = if mask.is_empty() { inputs.get(..1).unwrap_or(&inputs) } else { &inputs };
    Ok(graph.contrib_node("MultiHeadAttention", inputs, &[Attribute::Int("num_heads", heads as i64)]))
}

/// Concatenates dense layers, interleaved by head: columns of query, key and value.
fn packed(parts: &[Dense], width: usize, head: usize) -> Dense {
    let interleave = |rows: &dyn Fn(&Dense) -> &Vec<f32>| -> Vec<f32> {
        let mut all = Vec::new();
        for row in 0..rows_of(parts, rows, width) {
            for from in (0..width).step_by(head) {
                for part in parts {
                    let start = row * width + from;
                    all.extend(rows(part).iter().skip(start).take(head));
                }
            }
        }
        all
    };
    Dense {
        inputs: width,
        outputs: width * parts.len(),
        weights: interleave(&|part| &part.weights),
        bias: interleave(&|part| &part.bias),
    }
}

fn rows_of(parts: &[Dense], rows: &dyn Fn(&Dense) -> &Vec<f32>, width: usize) -> usize {
    parts.first().map_or(0, |part| rows(part).len() / width)
}

fn layer_norm(
    graph: &mut Graph,
    tensors: &mut Tensors,
    architecture: &Architecture,
    name: &str,
    x: &str,
) -> Result<String, ModelError> {
    let width = architecture.hidden_size;
    let scale = tensors.floats(&format!("{name}.weight"), &[width])?.data;
    let bias = tensors.floats(&format!("{name}.bias"), &[width])?.data;
    let scale = graph.floats(&format!("{name}.scale"), &[width], &scale);
    let bias = graph.floats(&format!("{name}.bias"), &[width], &bias);
    let settings = [Attribute::Int("axis", -1), Attribute::Float("epsilon", architecture.layer_norm_eps)];
    Ok(graph.node("LayerNormalization", &[x, &scale, &bias], &settings))
}
