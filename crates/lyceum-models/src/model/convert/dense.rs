//! A dense layer in float32 or int8.

use crate::model::{
    ModelError,
    convert::Variant,
    onnx::{Attribute, Element, Graph},
    safetensors::Tensors,
};

/// Largest quantized value of weights and activations. CPUs without VNNI add two byte products in 16 bits; with values
/// up to 127 these sums fit, with 255 on one side they would saturate.
pub(super) const MAX_QUANTIZED: f32 = 127.0;

/// Weights of a dense layer, a row per input and a column per output, with a bias per output.
#[derive(Debug)]
pub(super) struct Dense {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Dense {
    /// Reads `{name}.weight` and `{name}.bias`, stored with a row per output, and transposes them.
    pub(super) fn read(
        tensors: &mut Tensors,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        let rows = tensors.floats(&format!("{name}.weight"), &[outputs, inputs])?.data;
        let bias = tensors.floats(&format!("{name}.bias"), &[outputs])?.data;
        Ok(Self { inputs, outputs, weights: transposed(&rows, inputs), bias })
    }

    /// Writes `x · weights + bias`.
    pub(super) fn write(
        &self,
        graph: &mut Graph,
        name: &str,
        x: ProductInput<'_>,
        variant: Variant,
    ) -> String {
        match variant {
            Variant::Fp32 => self.floats(graph, name, x.name()),
            Variant::Int8 => self.bytes(graph, name, x),
        }
    }

    /// Writes the layer in float32, whatever the variant of the model.
    pub(super) fn floats(&self, graph: &mut Graph, name: &str, x: &str) -> String {
        let weights = graph.floats(&format!("{name}.weight"), &[self.inputs, self.outputs], &self.weights);
        let product = graph.node("MatMul", &[x, &weights], &[]);
        add_bias(graph, name, &product, &self.bias)
    }

    /// Writes the layer in int8. An activation is `min + scale * byte`, so the result is the scaled product of the
    /// bytes plus `min` times the sum of each column.
    fn bytes(&self, graph: &mut Graph, name: &str, x: ProductInput<'_>) -> String {
        let scales = scales(&self.weights, self.outputs);
        let quantized: Vec<i8> = self
            .weights
            .chunks(self.outputs.max(1))
            .flat_map(|row| row.iter().zip(&scales).map(|(weight, scale)| quantize(*weight, *scale)))
            .collect();
        let sums = column_sums(&quantized, &scales);
        let weights = graph.bytes(&format!("{name}.weight"), &[self.inputs, self.outputs], &quantized);
        let scales = graph.floats(&format!("{name}.scale"), &[self.outputs], &scales);

        let x = QuantizedTokens::write(graph, x);
        let zeros = [Element::Uint8, Element::Int8].map(|element| graph.shared_zero(element));
        let [x_zero, weights_zero] = &zeros;
        let product = graph.node("MatMulInteger", &[&x.bytes, &weights, x_zero, weights_zero], &[]);
        let product = graph.node("Cast", &[&product], &[Attribute::Int("to", Element::Float as i64)]);
        let product = graph.node("Mul", &[&product, &scales], &[]);
        let product = graph.node("Mul", &[&product, &x.scales], &[]);
        match x.min {
            ZeroPoint::Same(min) => {
                let bias: Vec<f32> = self.bias.iter().zip(sums).map(|(bias, sum)| bias + min * sum).collect();
                add_bias(graph, name, &product, &bias)
            }
            ZeroPoint::Each(min) => {
                let sums = graph.floats(&format!("{name}.sums"), &[1, self.outputs], &sums);
                let min = graph.node("MatMul", &[&min, &sums], &[]);
                let min = add_bias(graph, name, &min, &self.bias);
                graph.node("Add", &[&product, &min], &[])
            }
        }
    }
}

fn add_bias(graph: &mut Graph, name: &str, x: &str, bias: &[f32]) -> String {
    let bias = graph.floats(&format!("{name}.bias"), &[bias.len()], bias);
    graph.node("Add", &[x, &bias], &[])
}

/// Input of a dense layer, by what is known of its range.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProductInput<'a> {
    /// Any range.
    Any(&'a str),
    /// Output of `Gelu`, which has a known minimum.
    Gelu(&'a str),
}

impl ProductInput<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Any(name) | Self::Gelu(name) => name,
        }
    }
}

/// Minimum of `Gelu`.
const GELU_MIN: f32 = -0.17;

/// Activations quantized to 8 bits with a range per token: an outlier token does not reduce the precision of the
/// others, as one range per text would. The zero point is always 0, because the runtime (rten 0.27) applies the zero
/// points of the first rows to all rows.
struct QuantizedTokens {
    bytes: String,
    scales: String,
    min: ZeroPoint,
}

/// The value of byte 0.
enum ZeroPoint {
    /// The same for every token.
    Same(f32),
    /// The minimum of each token.
    Each(String),
}

impl QuantizedTokens {
    fn write(graph: &mut Graph, x: ProductInput<'_>) -> Self {
        let last = graph.shared_int("last", -1);
        let max = graph.node("ReduceMax", &[x.name(), &last], &[]);
        let (min, zero_point) = match x {
            ProductInput::Any(x) => {
                let min = graph.node("ReduceMin", &[x, &last], &[]);
                (min.clone(), ZeroPoint::Each(min))
            }
            ProductInput::Gelu(_) => {
                (graph.shared_float("least of gelu", GELU_MIN), ZeroPoint::Same(GELU_MIN))
            }
        };
        let [tiny, steps, half] = [("tiny", 1e-9), ("steps", MAX_QUANTIZED), ("half", 0.5)]
            .map(|(name, value)| graph.shared_float(name, value));
        let range = graph.node("Sub", &[&max, &min], &[]);
        let range = graph.node("Max", &[&range, &tiny], &[]);
        let scales = graph.node("Div", &[&range, &steps], &[]);
        let inverse_scale = graph.node("Div", &[&steps, &range], &[]);
        // Adding 0.5 makes the truncating cast round.
        let shift = graph.node("Mul", &[&min, &inverse_scale], &[]);
        let shift = graph.node("Sub", &[&half, &shift], &[]);
        let bytes = graph.node("Mul", &[x.name(), &inverse_scale], &[]);
        let bytes = graph.node("Add", &[&bytes, &shift], &[]);
        let bytes = graph.node("Cast", &[&bytes], &[Attribute::Int("to", Element::Uint8 as i64)]);
        Self { bytes, scales, min: zero_point }
    }
}

/// Column sums of the dequantized weights.
fn column_sums(weights: &[i8], scales: &[f32]) -> Vec<f32> {
    let mut sums = vec![0_i32; scales.len()];
    for row in weights.chunks(scales.len().max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += i32::from(*weight));
    }
    sums.into_iter().zip(scales).map(|(sum, scale)| sum as f32 * scale).collect()
}

/// Transposes a matrix.
fn transposed(rows: &[f32], width: usize) -> Vec<f32> {
    (0..width).flat_map(|column| rows.iter().skip(column).step_by(width.max(1)).copied()).collect()
}

/// Quantization scale of each column.
fn scales(weights: &[f32], columns: usize) -> Vec<f32> {
    let mut largest = vec![0.0_f32; columns];
    for row in weights.chunks(columns.max(1)) {
        for (max, weight) in largest.iter_mut().zip(row) {
            *max = max.max(weight.abs());
        }
    }
    largest.into_iter().map(|max| if max > 0.0 { max / MAX_QUANTIZED } else { 1.0 }).collect()
}

/// Quantizes a weight; the cast saturates.
pub(super) fn quantize(weight: f32, scale: f32) -> i8 {
    (weight / scale).round() as i8
}
