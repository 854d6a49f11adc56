//! Writes an ONNX file: nodes, constants, inputs and outputs of one graph.
//!
//! Constants are encoded as they come and written to the file without another copy, so a file takes its own size of
//! memory and one tensor more.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::protobuf::Message;

/// The version of the operators that the files are written in; `LayerNormalization` came with 17, `Gelu` with 20.
const OPERATORS: i64 = 20;
/// Operators that runtimes share outside of the standard.
const CONTRIBUTED: &str = "com.microsoft";

/// What a value is made of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Float = 1,
    Uint8 = 2,
    Int8 = 3,
    Int64 = 7,
}

/// A graph on its way into a file. Values are named by texts; each node has one output of its own name.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Message,
    constants: Message,
    ends: Message,
    shared: BTreeSet<String>,
    count: usize,
}

/// A setting of a node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attribute {
    Int(&'static str, i64),
    Float(&'static str, f32),
}

/// A side of a value: a number, or a name for what differs from run to run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Fixed(usize),
    Any(&'static str),
}

impl Graph {
    /// A value that a run brings.
    pub(super) fn input(&mut self, name: &str, element: Element, sides: &[Side]) {
        self.ends.message(11, &described(name, element, sides));
    }

    /// A value that a run gives.
    pub(super) fn output(&mut self, name: &str, element: Element, sides: &[Side]) {
        self.ends.message(12, &described(name, element, sides));
    }

    /// A constant of floats.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], data: &[f32]) -> String {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(name, Element::Float, shape, &bytes)
    }

    /// A single float that many nodes use; written once.
    pub(super) fn shared_float(&mut self, name: &str, value: f32) -> String {
        if self.shared.insert(name.to_owned()) { self.floats(name, &[], &[value]) } else { name.to_owned() }
    }

    /// A single whole number in a row that many nodes use; written once.
    pub(super) fn shared_int(&mut self, name: &str, value: i64) -> String {
        if self.shared.insert(name.to_owned()) { self.ints(name, &[1], &[value]) } else { name.to_owned() }
    }

    /// The zero of a kind of small numbers, for many nodes.
    pub(super) fn shared_zero(&mut self, element: Element) -> String {
        let name = format!("zero.{element:?}");
        let fresh = self.shared.insert(name.clone());
        if fresh { self.constant(&name, element, &[], &[0]) } else { name }
    }

    /// A constant of small whole numbers.
    pub(super) fn bytes(&mut self, name: &str, shape: &[usize], data: &[i8]) -> String {
        let bytes: Vec<u8> = data.iter().map(|x| x.cast_unsigned()).collect();
        self.constant(name, Element::Int8, shape, &bytes)
    }

    /// A constant of whole numbers.
    pub(super) fn ints(&mut self, name: &str, shape: &[usize], data: &[i64]) -> String {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(name, Element::Int64, shape, &bytes)
    }

    fn constant(&mut self, name: &str, element: Element, shape: &[usize], bytes: &[u8]) -> String {
        let mut head = Message::default();
        for side in shape {
            head.int(1, *side as i64);
        }
        head.int(2, element as i64).text(8, name).announce(9, bytes.len());
        // The tensor is its head and its bytes; both go in without a copy of the whole.
        self.constants.announce(5, head.as_bytes().len() + bytes.len());
        self.constants.append(head.as_bytes()).append(bytes);
        name.to_owned()
    }

    /// A node of the standard; gives the name of its output.
    pub(super) fn node(&mut self, kind: &str, inputs: &[&str], attributes: &[Attribute]) -> String {
        let name = self.fresh(kind);
        self.add(kind, "", inputs, &[&name], attributes);
        name
    }

    /// A node of the operators outside of the standard.
    pub(super) fn contributed(&mut self, kind: &str, inputs: &[&str], attributes: &[Attribute]) -> String {
        let name = self.fresh(kind);
        self.add(kind, CONTRIBUTED, inputs, &[&name], attributes);
        name
    }

    /// A node with its output named by the caller.
    pub(super) fn named(&mut self, name: &str, kind: &str, inputs: &[&str], attributes: &[Attribute]) {
        self.add(kind, "", inputs, &[name], attributes);
    }

    /// Writes the file.
    pub(super) fn write(&self, producer: &str, mut out: impl Write) -> io::Result<()> {
        let mut name = Message::default();
        name.text(2, "encoder");
        let parts = [&self.nodes, &name, &self.constants, &self.ends];
        let mut head = Message::default();
        head.int(1, 9).text(2, producer);
        for (domain, version) in [("", OPERATORS), (CONTRIBUTED, 1)] {
            let mut import = Message::default();
            import.text(1, domain).int(2, version);
            head.message(8, &import);
        }
        head.announce(7, parts.iter().map(|part| part.as_bytes().len()).sum());
        out.write_all(head.as_bytes())?;
        for part in parts {
            out.write_all(part.as_bytes())?;
        }
        out.flush()
    }

    fn fresh(&mut self, kind: &str) -> String {
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

/// A `ValueInfoProto`.
fn described(name: &str, element: Element, sides: &[Side]) -> Message {
    let mut shape = Message::default();
    for side in sides {
        let mut dimension = Message::default();
        match side {
            Side::Fixed(size) => dimension.int(1, *size as i64),
            Side::Any(name) => dimension.text(2, name),
        };
        shape.message(1, &dimension);
    }
    let (mut tensor, mut kind, mut value) = (Message::default(), Message::default(), Message::default());
    tensor.int(1, element as i64).message(2, &shape);
    kind.message(1, &tensor);
    value.text(1, name).message(2, &kind);
    value
}
