//! Writes an ONNX file: nodes, initializers, inputs and outputs of one graph.
//!
//! Initializers are encoded once and written without a copy, so memory use is the size of the file plus one tensor.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::protobuf::Message;

/// Opset version; `LayerNormalization` needs 17, `Gelu` 20.
const OPSET_VERSION: i64 = 20;
/// Domain of contrib operators, outside of the ONNX standard.
const CONTRIB_DOMAIN: &str = "com.microsoft";

/// Element type of a tensor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Int64 = 7,
}

/// A graph under construction. Each node has one output, named like the node.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Message,
    initializers: Message,
    inputs_and_outputs: Message,
    shared: BTreeSet<String>,
    count: usize,
}

/// An attribute of a node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attribute {
    Int(&'static str, i64),
    Float(&'static str, f32),
}

/// A dimension: fixed, or symbolic.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dim {
    Fixed(usize),
    Any(&'static str),
}

impl Graph {
    /// Declares an input of the graph.
    pub(super) fn input(&mut self, name: &str, element: Element, dims: &[Dim]) {
        self.inputs_and_outputs.message(11, &value_info(name, element, dims));
    }

    /// Declares an output of the graph.
    pub(super) fn output(&mut self, name: &str, element: Element, dims: &[Dim]) {
        self.inputs_and_outputs.message(12, &value_info(name, element, dims));
    }

    /// Adds a float initializer.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], data: &[f32]) -> String {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.initializer(name, Element::Float, shape, &bytes)
    }

    /// A scalar float shared by several nodes; written once.
    pub(super) fn shared_float(&mut self, name: &str, value: f32) -> String {
        if self.shared.insert(name.to_owned()) { self.floats(name, &[], &[value]) } else { name.to_owned() }
    }

    /// A one-element integer tensor shared by several nodes; written once.
    pub(super) fn shared_int(&mut self, name: &str, value: i64) -> String {
        if self.shared.insert(name.to_owned()) { self.ints(name, &[1], &[value]) } else { name.to_owned() }
    }

    /// A zero of an element type shared by several nodes; written once.
    pub(super) fn shared_zero(&mut self, element: Element) -> String {
        let name = format!("zero.{element:?}");
        let is_new = self.shared.insert(name.clone());
        if is_new { self.initializer(&name, element, &[], &[0]) } else { name }
    }

    /// Adds an int8 initializer.
    pub(super) fn bytes(&mut self, name: &str, shape: &[usize], data: &[i8]) -> String {
        let bytes: Vec<u8> = data.iter().map(|x| x.cast_unsigned()).collect();
        self.initializer(name, Element::Int8, shape, &bytes)
    }

    /// Adds an int64 initializer.
    pub(super) fn ints(&mut self, name: &str, shape: &[usize], data: &[i64]) -> String {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.initializer(name, Element::Int64, shape, &bytes)
    }

    fn initializer(&mut self, name: &str, element: Element, shape: &[usize], bytes: &[u8]) -> String {
        let mut head = Message::default();
        for dim in shape {
            head.int(1, *dim as i64);
        }
        head.int(2, element as i64).text(8, name).length_prefix(9, bytes.len());
        // Append header and bytes separately, to avoid a copy of the tensor.
        self.initializers.length_prefix(5, head.as_bytes().len() + bytes.len());
        self.initializers.append(head.as_bytes()).append(bytes);
        name.to_owned()
    }

    /// Adds a node of a standard operator; returns the name of its output.
    pub(super) fn node(&mut self, kind: &str, inputs: &[&str], attributes: &[Attribute]) -> String {
        let name = self.unique_name(kind);
        self.add(kind, "", inputs, &[&name], attributes);
        name
    }

    /// Adds a node of a contrib operator; returns the name of its output.
    pub(super) fn contrib_node(&mut self, kind: &str, inputs: &[&str], attributes: &[Attribute]) -> String {
        let name = self.unique_name(kind);
        self.add(kind, CONTRIB_DOMAIN, inputs, &[&name], attributes);
        name
    }

    /// Adds a node with a given output name.
    pub(super) fn named_node(&mut self, name: &str, kind: &str, inputs: &[&str], attributes: &[Attribute]) {
        self.add(kind, "", inputs, &[name], attributes);
    }

    /// Writes the file.
    pub(super) fn write(&self, producer: &str, mut out: impl Write) -> io::Result<()> {
        let mut name = Message::default();
        name.text(2, "encoder");
        let parts = [&self.nodes, &name, &self.initializers, &self.inputs_and_outputs];
        let mut head = Message::default();
        head.int(1, 9).text(2, producer);
        for (domain, version) in [("", OPSET_VERSION), (CONTRIB_DOMAIN, 1)] {
            let mut import = Message::default();
            import.text(1, domain).int(2, version);
            head.message(8, &import);
        }
        head.length_prefix(7, parts.iter().map(|part| part.as_bytes().len()).sum());
        out.write_all(head.as_bytes())?;
        for part in parts {
            out.write_all(part.as_bytes())?;
        }
        out.flush()
    }

    fn unique_name(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}.{}", self.count)
    }

    fn add(&mut self, kind: &str, domain: &str, inputs: &[&str], outputs: &[&str], attributes: &[Attribute]) {
        let mut node = Message::default();
        for input in inputs {
            node.text(1, input);
        }
        for output in outputs {
            node.text(2, output);
        }
        node.text(3, outputs.first().unwrap_or(&kind)).text(4, kind);
        for attribute in attributes {
            let mut message = Message::default();
            match attribute {
                Attribute::Int(name, value) => message.text(1, name).int(3, *value).int(20, 2),
                Attribute::Float(name, value) => message.text(1, name).float(2, *value).int(20, 1),
            };
            node.message(5, &message);
        }
        if !domain.is_empty() {
            node.text(7, domain);
        }
        self.nodes.message(1, &node);
    }
}

/// Builds a `ValueInfoProto`.
fn value_info(name: &str, element: Element, dims: &[Dim]) -> Message {
    let mut shape = Message::default();
    for dim in dims {
        let mut dimension = Message::default();
        match dim {
            Dim::Fixed(size) => dimension.int(1, *size as i64),
            Dim::Any(name) => dimension.text(2, name),
        };
        shape.message(1, &dimension);
    }
    let (mut tensor, mut kind, mut value) = (Message::default(), Message::default(), Message::default());
    tensor.int(1, element as i64).message(2, &shape);
    kind.message(1, &tensor);
    value.text(1, name).message(2, &kind);
    value
}
