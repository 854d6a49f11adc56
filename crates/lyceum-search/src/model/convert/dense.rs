//! A product with a matrix of weights, in floats or in 8 bits.

use crate::model::{
    ModelError,
    convert::Variant,
    onnx::{Attribute, Element, Graph, Side},
    safetensors::Tensors,
};

/// The largest weight in 8 bits. Where a processor adds two products of 8 bits within 16, those of 255 and 64 still fit:
/// with a larger one, processors without such instructions as VNNI would cut sums off.
pub(super) const LARGEST: f32 = 64.0;

/// Weights as a product takes them: a row for each input, a column for each output, and what is added to each.
#[derive(Debug)]
pub(super) struct Dense {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Dense {
    /// Reads `{name}.weight` and `{name}.bias`, which a hub keeps a row for each output.
    pub(super) fn read(
        tensors: &mut Tensors,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        let rows = tensors.floats(&format!("{name}.weight"), &[outputs, inputs])?.data;
        let bias = tensors.floats(&format!("{name}.bias"), &[outputs])?.data;
        Ok(Self { inputs, outputs, weights: turned(&rows, inputs), bias })
    }

    /// Writes the product of `x` with the weights, and the sum with the bias.
    pub(super) fn write(&self, graph: &mut Graph, name: &str, x: &str, variant: Variant) -> String {
        let product = match variant {
            Variant::Fp32 => self.floats(graph, name, x),
            Variant::Int8 => self.bytes(graph, name, x),
        };
        let bias = graph.floats(&format!("{name}.bias"), &[self.outputs], &self.bias);
        graph.node("Add", &[&product, &bias], &[])
    }

    fn floats(&self, graph: &mut Graph, name: &str, x: &str) -> String {
        let weights = graph.floats(&format!("{name}.weight"), &[self.inputs, self.outputs], &self.weights);
        graph.node("MatMul", &[x, &weights], &[])
    }

    fn bytes(&self, graph: &mut Graph, name: &str, x: &str) -> String {
        let scales = scales(&self.weights, self.outputs);
        let small: Vec<i8> = self
            .weights
            .chunks(self.outputs.max(1))
            .flat_map(|row| row.iter().zip(&scales).map(|(weight, scale)| small(*weight, *scale)))
            .collect();
        let weights = graph.bytes(&format!("{name}.weight"), &[self.inputs, self.outputs], &small);
        let scales = graph.floats(&format!("{name}.scale"), &[self.outputs], &scales);
        let zero = graph.bytes(&format!("{name}.zero"), &[], &[0]);
        let [x, x_scale, x_zero] = graph.quantized(x);
        let scale = graph.node("Mul", &[&x_scale, &scales], &[]);
        // Without this the runtime does not know that the scale is one row, and would not fuse.
        graph.describe(&scale, Element::Float, &[Side::Fixed(self.outputs)]);
        let sums = graph.node("MatMulInteger", &[&x, &weights, &x_zero, &zero], &[]);
        let sums = graph.node("Cast", &[&sums], &[Attribute::Int("to", Element::Float as i64)]);
        graph.node("Mul", &[&sums, &scale], &[])
    }
}

/// Rows as columns.
fn turned(rows: &[f32], width: usize) -> Vec<f32> {
    (0..width).flat_map(|column| rows.iter().skip(column).step_by(width.max(1)).copied()).collect()
}

/// What the largest weight of each column is divided by to be [`LARGEST`].
fn scales(weights: &[f32], columns: usize) -> Vec<f32> {
    let mut largest = vec![0.0_f32; columns];
    for row in weights.chunks(columns.max(1)) {
        for (most, weight) in largest.iter_mut().zip(row) {
            *most = most.max(weight.abs());
        }
    }
    largest.into_iter().map(|most| if most > 0.0 { most / LARGEST } else { 1.0 }).collect()
}

/// A weight in 8 bits; a conversion of this kind stays within its bounds.
pub(super) fn small(weight: f32, scale: f32) -> i8 {
    (weight / scale).round() as i8
}
