//! Parses JSON input into Rust types. Errors name the field and no Rust types.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category};

/// An invalid field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// Its path, such as `argument.name`; empty for the whole input.
    pub field: String,
    /// What is wrong.
    pub message: &'static str,
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, message } = self;
        if field.is_empty() { f.write_str(message) } else { write!(f, "{field}: {message}") }
    }
}

/// Parses bytes that must be a JSON object.
pub fn read_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FieldFault> {
    let whole = |message| FieldFault { field: String::new(), message };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Eof => whole("unexpected end of JSON"),
        Category::Io | Category::Syntax | Category::Data => whole("not valid JSON"),
    })?;
    // A derived deserializer would also accept an array of the values.
    if value.is_object() { read_fields(value) } else { Err(whole("must be a JSON object")) }
}

/// Deserializes a JSON value.
pub fn read_fields<T: DeserializeOwned>(value: Value) -> Result<T, FieldFault> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        // `serde_path_to_error` writes unnamed parts of a path as `.` or `?`.
        let path = error.path().to_string();
        let path = path.trim_matches(['.', '?']);
        field_fault(path, &error.inner().to_string())
    })
}

/// Translates a message of serde. Its wording is not ours, so only its known parts are used.
fn field_fault(path: &str, message: &str) -> FieldFault {
    let quoted = message.split('`').nth(1).unwrap_or_default();
    let below = || match path {
        "" => quoted.to_owned(),
        path => format!("{path}.{quoted}"),
    };
    if message.starts_with("missing field") {
        return FieldFault { field: below(), message: "is missing" };
    }
    // Here the path is that of the field itself.
    if message.starts_with("unknown field") {
        return FieldFault { field: path.to_owned(), message: "unknown field" };
    }
    let expected = message.rsplit_once("expected ").map_or("", |(_, expected)| expected);
    let message = match expected.split([' ', ',']).next().unwrap_or_default() {
        "struct" | "map" | "internally" | "adjacently" => "must be an object",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "must be an integer",
        "sequence" | "tuple" => "must be an array",
        "a" if expected.starts_with("a string") => "must be a string",
        "a" if expected.starts_with("a map") => "must be an object",
        "a" if expected.starts_with("a sequence") => "must be an array",
        "a" if expected.starts_with("a boolean") => "must be true or false",
        _ => "is not an allowed value",
    };
    FieldFault { field: path.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only deserialized")]
    struct Outer {
        name: String,
        chain: u64,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only deserialized")]
    struct Inner {
        list: Vec<String>,
        sure: bool,
    }

    #[track_caller]
    fn check(text: &str, fault: &str) {
        assert_eq!(read_object::<Outer>(text.as_bytes()).unwrap_err().to_string(), fault, "{text}");
    }

    #[test]
    fn k10_what_is_wrong_is_told_by_its_field_and_not_by_our_types() {
        check("", "unexpected end of JSON");
        check("{", "unexpected end of JSON");
        check("nonsense", "not valid JSON");
        check("[]", "must be a JSON object");
        check("\"x\"", "must be a JSON object");
        check("{}", "name: is missing");
        check(r#"{"name":1}"#, "name: must be a string");
        check(r#"{"name":"a","chain":"b"}"#, "chain: must be an integer");
        check(r#"{"name":"a","chain":-1}"#, "chain: must be an integer");
        check(r#"{"name":"a","chain":1,"more":2}"#, "more: unknown field");
        check(r#"{"name":"a","chain":1,"inner":2}"#, "inner: must be an object");
        check(r#"{"name":"a","chain":1,"inner":{}}"#, "inner.list: is missing");
        check(r#"{"name":"a","chain":1,"inner":{"list":1}}"#, "inner.list: must be an array");
        check(r#"{"name":"a","chain":1,"inner":{"list":[1]}}"#, "inner.list[0]: must be a string");
        check(r#"{"name":"a","chain":1,"inner":{"list":[],"sure":1}}"#, "inner.sure: must be true or false");
    }
}
