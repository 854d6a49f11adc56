//! Parses JSON with comments and trailing commas into positions.

use std::{collections::BTreeSet, ops::Range};

use serde_json::Value;

use super::super::SyntaxError;

/// Maximum depth of nesting.
const MAX_DEPTH: usize = 128;

/// A value, by its position in the text.
#[derive(Debug)]
pub(super) struct Node {
    /// From its first byte to after its last.
    pub(super) span: Range<usize>,
    /// Its parts.
    pub(super) kind: Kind,
}

/// The parts of a value.
#[derive(Debug)]
pub(super) enum Kind {
    /// Members.
    Object(Vec<Part>),
    /// Elements.
    Array(Vec<Part>),
    /// A string, a number or a word.
    Scalar(Value),
}

/// A member of an object, or an element of an array.
#[derive(Debug)]
pub(super) struct Part {
    /// Position of its first byte: that of the key, in an object.
    pub(super) start: usize,
    /// The key, in an object.
    pub(super) key: Option<String>,
    /// The value.
    pub(super) value: Node,
    /// Position of the comma after it, if there is one.
    pub(super) comma: Option<usize>,
}

impl Node {
    /// The members or elements.
    pub(super) fn parts(&self) -> &[Part] {
        match &self.kind {
            Kind::Object(parts) | Kind::Array(parts) => parts,
            Kind::Scalar(_) => &[],
        }
    }

    /// The member with this key.
    pub(super) fn member(&self, key: &str) -> Option<&Part> {
        self.parts().iter().find(|part| part.key.as_deref() == Some(key))
    }

    /// The value, without comments.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(parts) => parts.iter().map(|part| part.value.to_json()).collect(),
            Kind::Object(parts) => {
                let member = |part: &Part| Some((part.key.clone()?, part.value.to_json()));
                Value::Object(parts.iter().filter_map(member).collect())
            }
        }
    }
}

/// Parses a text that is one value.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut parser = Parser { text, at };
    parser.skip()?;
    let node = parser.value(0)?;
    parser.skip()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.error("the file goes on after its value")),
    }
}

/// An error at a position.
pub(super) fn error(text: &str, at: usize, message: &str) -> SyntaxError {
    let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    SyntaxError { line, message: message.to_owned() }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, message: &str) -> SyntaxError {
        error(self.text, self.at, message)
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end =
                    rest.find("*/").ok_or_else(|| self.error("this comment is not closed; write */"))?;
                self.at += end + "*/".len();
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error("the file is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.parts(depth, b'}')?),
            Some(b'[') => Kind::Array(self.parts(depth, b']')?),
            Some(b'"') => Kind::Scalar(Value::from(self.string()?)),
            Some(_) => Kind::Scalar(self.word()?),
            None => return Err(self.error("the file ends where a value is expected")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    /// The parts of an object or array, with its brackets.
    fn parts(&mut self, depth: usize, close: u8) -> Result<Vec<Part>, SyntaxError> {
        self.at += 1;
        let (mut parts, mut keys): (Vec<Part>, BTreeSet<String>) = Default::default();
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(parts);
            }
            if parts.last().is_some_and(|last| last.comma.is_none()) {
                let expected = format!("expected a comma or {}", char::from(close));
                return Err(self.error(&expected));
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key(&mut keys)?) } else { None };
            let value = self.value(depth + 1)?;
            self.skip()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            parts.push(Part { start, key, value, comma });
        }
    }

    /// A key that is not among these, and the colon.
    fn key(&mut self, keys: &mut BTreeSet<String>) -> Result<String, SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in double quotes, or }"));
        }
        let start = self.at;
        let key = self.string()?;
        if !keys.insert(key.clone()) {
            return Err(error(self.text, start, &format!("the key {key:?} is there twice; remove one")));
        }
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.error(&format!("expected a colon after the key {key:?}")));
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        let mut is_escaped = false;
        for (offset, byte) in self.rest().bytes().enumerate().skip(1) {
            match byte {
                b'\n' => break,
                b'"' if !is_escaped => {
                    self.at = start + offset + 1;
                    let text = self.text.get(start..self.at).unwrap_or_default();
                    return serde_json::from_str(text).map_err(|_| error(self.text, start, "invalid string"));
                }
                _ => is_escaped = byte == b'\\' && !is_escaped,
            }
        }
        Err(self.error("this string is not closed; write a double quote"))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, SyntaxError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let word = self.rest();
        let word = word.get(..word.find(|c| !is_part(c)).unwrap_or(word.len())).unwrap_or_default();
        let value = serde_json::from_str(word).map_err(|_| {
            let shown: String = self.rest().chars().take(20).collect();
            self.error(&format!("expected a value, not {shown:?}"))
        })?;
        self.at += word.len();
        Ok(value)
    }
}
