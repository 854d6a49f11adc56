//! Prefixes of tool and prompt names, so that services with equal names can be offered together.

use std::sync::Arc;

use serde_json::Value;

use crate::{Error, mcp::JsonObject};

/// A prefix such as `docs_`; may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(String);

/// A prefix with characters or a length that tool names don't allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid prefix {0:?}: use up to {max} characters of A-Z, a-z, 0-9, '_', '-' and '.', such as \"docs_\"",
    max = Prefix::MAX_CHARS
)]
pub struct InvalidPrefix(String);

impl Prefix {
    /// Maximum length: clients limit the length of names, and our names need the rest.
    pub const MAX_CHARS: usize = 24;

    /// Parses the prefix in the configuration.
    pub fn parse(text: &str) -> Result<Self, InvalidPrefix> {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        if text.len() > Self::MAX_CHARS || !text.bytes().all(is_allowed) {
            return Err(InvalidPrefix(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether names stay unchanged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the prefix to a name.
    pub fn of(&self, name: &str) -> String {
        format!("{}{name}", self.0)
    }

    /// Adds the prefix to each whole word of a text that is one of the names.
    pub fn in_text<'a>(&self, text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
        let names: Vec<&str> = names.into_iter().collect();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split_inclusive(|c| !is_of_name(c)).map(|piece| {
            let word = piece.trim_end_matches(|c| !is_of_name(c));
            let is_name = names.contains(&word);
            if is_name { self.of(piece) } else { piece.to_owned() }
        });
        words.collect()
    }
}

/// The tools of one service that has a prefix. Texts that mention them are rewritten to the names that clients can call.
#[derive(Debug, Clone)]
pub(crate) struct Mentions {
    prefix: Prefix,
    names: Arc<[String]>,
}

impl Mentions {
    /// For tools of these names, without the prefix.
    pub(crate) fn new(prefix: &Prefix, names: impl Iterator<Item = String>) -> Self {
        Self { prefix: prefix.clone(), names: names.collect() }
    }

    /// A text with prefixed tool names.
    pub(crate) fn in_text(&self, text: &str) -> String {
        self.prefix.in_text(text, self.names.iter().map(String::as_str))
    }

    /// Rewrites every `description` of a JSON Schema.
    pub(crate) fn in_schema(&self, schema: &mut JsonObject) {
        for (key, value) in schema {
            match value {
                Value::String(text) if key == "description" => *text = self.in_text(text),
                value => self.in_value(value),
            }
        }
    }

    fn in_value(&self, value: &mut Value) {
        match value {
            Value::Object(object) => self.in_schema(object),
            Value::Array(values) => values.iter_mut().for_each(|value| self.in_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Rewrites the message of an error.
    pub(crate) fn in_error(&self, error: Error) -> Error {
        match error {
            Error::Failed { code, message } => Error::Failed { code, message: self.in_text(&message) },
            Error::Detailed { code, message, details } => {
                Error::Detailed { code, message: self.in_text(&message), details }
            }
            Error::Invalid { field, message } => Error::Invalid { field, message: self.in_text(&message) },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_mentions_of_them_get_the_prefix() {
        let prefix = Prefix::parse("docs_").unwrap();
        assert_eq!(prefix.of("find"), "docs_find");
        let text = prefix.in_text("First find, then `get_it`. refind find_all (find)", ["find", "get_it"]);
        assert_eq!(text, "First docs_find, then `docs_get_it`. refind find_all (docs_find)");
    }

    #[test]
    fn what_clients_could_not_send_is_no_prefix() {
        for wrong in ["a b", "ä_", "a/", &"a".repeat(25)] {
            let error = Prefix::parse(wrong).unwrap_err();
            assert!(error.to_string().contains("such as \"docs_\""), "{error}");
        }
        assert!(Prefix::parse("").unwrap().is_empty());
    }
}
