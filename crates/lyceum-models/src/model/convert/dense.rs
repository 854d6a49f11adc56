//! A product with a matrix of weights, in floats or in 8 bits.

use crate::model::{
    ModelError,
    convert::Variant,
    onnx::{Attribute, Element, Graph},
    safetensors::Tensors,
};

/// The largest byte, of weights and of what goes into a product. Where a processor adds two products of bytes within 16
/// bits, those of 127 still fit: with 255 on one side, processors without such instructions as VNNI would cut sums off.
pub(super) const LARGEST: f32 = 127.0;

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

    /// The same in floats, whatever the rest of the model has.
    pub(super) fn floats(&self, graph: &mut Graph, name: &str, x: &str) -> String {
        let weights = graph.floats(&format!("{name}.weight"), &[self.inputs, self.outputs], &self.weights);
        let product = graph.node("MatMul", &[x, &weights], &[]);
        biased(graph, name, &product, &self.bias)
    }

    /// A token is `least + scale * bytes`, so its product is that of the bytes, scaled, and `least` times the sum of
    /// each column.
    fn bytes(&self, graph: &mut Graph, name: &str, x: ProductInput<'_>) -> String {
        let scales = scales(&self.weights, self.outputs);
        let small: Vec<i8> = self
            .weights
            .chunks(self.outputs.max(1))
            .flat_map(|row| row.iter().zip(&scales).map(|(weight, scale)| small(*weight, *scale)))
            .collect();
        let sums = column_sums(&small, &scales);
        let weights = graph.bytes(&format!("{name}.weight"), &[self.inputs, self.outputs], &small);
        let scales = graph.floats(&format!("{name}.scale"), &[self.outputs], &scales);

        let x = Tokens::write(graph, x);
        let zeros = [Element::Uint8, Element::Int8].map(|element| graph.shared_zero(element));
        let [of_x, of_weights] = &zeros;
        let product = graph.node("MatMulInteger", &[&x.bytes, &weights, of_x, of_weights], &[]);
        let product = graph.node("Cast", &[&product], &[Attribute::Int("to", Element::Float as i64)]);
        let product = graph.node("Mul", &[&product, &scales], &[]);
        let product = graph.node("Mul", &[&product, &x.scales], &[]);
        match x.least {
            ZeroPoint::Same(least) => {
                let bias: Vec<f32> =
                    self.bias.iter().zip(sums).map(|(bias, sum)| bias + least * sum).collect();
                biased(graph, name, &product, &bias)
            }
            ZeroPoint::Each(least) => {
                let sums = graph.floats(&format!("{name}.sums"), &[1, self.outputs], &sums);
                let least = graph.node("MatMul", &[&least, &sums], &[]);
                let least = biased(graph, name, &least, &self.bias);
                graph.node("Add", &[&product, &least], &[])
            }
        }
    }
}

fn biased(graph: &mut Graph, name: &str, x: &str, bias: &[f32]) -> String {
    let bias = graph.floats(&format!("{name}.bias"), &[bias.len()], bias);
    graph.node("Add", &[x, &bias], &[])
}

/// What goes into a product, by what is known of its numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProductInput<'a> {
    /// Any.
    Any(&'a str),
    /// What `Gelu` gives: none is far below zero.
    Gelu(&'a str),
}

impl ProductInput<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Any(name) | Self::Gelu(name) => name,
        }
    }
}

/// `Gelu` gives nothing below this.
const LEAST_OF_GELU: f32 = -0.17;

/// Activations in 8 bits, each token with its own range: one with large numbers does not make those of all others
/// coarse, as one range for a whole text does. The zero point is 0 for all of them, since the runtime (0.27) takes that
/// of the first few rows for all when it is given one for each.
struct Tokens {
    bytes: String,
    scales: String,
    least: ZeroPoint,
}

/// What the byte 0 stands for.
enum ZeroPoint {
    /// The same in every token.
    Same(f32),
    /// The least of each token.
    Each(String),
}

impl Tokens {
    fn write(graph: &mut Graph, x: ProductInput<'_>) -> Self {
        let last = graph.shared_int("last", -1);
        let most = graph.node("ReduceMax", &[x.name(), &last], &[]);
        let (least, of) = match x {
            ProductInput::Any(x) => {
                let least = graph.node("ReduceMin", &[x, &last], &[]);
                (least.clone(), ZeroPoint::Each(least))
            }
            ProductInput::Gelu(_) => {
                (graph.shared_float("least of gelu", LEAST_OF_GELU), ZeroPoint::Same(LEAST_OF_GELU))
            }
        };
        let [tiny, steps, half] = [("tiny", 1e-9), ("steps", LARGEST), ("half", 0.5)]
            .map(|(name, value)| graph.shared_float(name, value));
        let range = graph.node("Sub", &[&most, &least], &[]);
        let range = graph.node("Max", &[&range, &tiny], &[]);
        let scales = graph.node("Div", &[&range, &steps], &[]);
        let finer = graph.node("Div", &[&steps, &range], &[]);
        // A half more, so that cutting off is rounding.
        let shift = graph.node("Mul", &[&least, &finer], &[]);
        let shift = graph.node("Sub", &[&half, &shift], &[]);
        let bytes = graph.node("Mul", &[x.name(), &finer], &[]);
        let bytes = graph.node("Add", &[&bytes, &shift], &[]);
        let bytes = graph.node("Cast", &[&bytes], &[Attribute::Int("to", Element::Uint8 as i64)]);
        Self { bytes, scales, least: of }
    }
}

/// What a row of ones would give.
fn column_sums(weights: &[i8], scales: &[f32]) -> Vec<f32> {
    let mut sums = vec![0_i32; scales.len()];
    for row in weights.chunks(scales.len().max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += i32::from(*weight));
    }
    sums.into_iter().zip(scales).map(|(sum, scale)| sum as f32 * scale).collect()
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
