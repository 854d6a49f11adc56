//! JSON from outside as one of our types; what is wrong with it is told by the name of the field, without names of types.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category};

/// A field that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// Its path, such as `argument.name`; empty where it is the whole.
    pub field: String,
    /// What is wrong with it.
    pub message: &'static str,
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, message } = self;
        if field.is_empty() { f.write_str(message) } else { write!(f, "{field}: {message}") }
    }
}

/// Reads bytes that must be a JSON object.
pub fn read_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FieldFault> {
    let whole = |message| FieldFault { field: String::new(), message };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Eof => whole("the JSON ends too early"),
        Category::Io | Category::Syntax | Category::Data => whole("it is not JSON"),
    })?;
    // A derived reader would also take the values alone, as an array.
    if value.is_object() { read_fields(value) } else { Err(whole("it must be a JSON object")) }
}

/// Reads a value as a type.
pub fn read_fields<T: DeserializeOwned>(value: Value) -> Result<T, FieldFault> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        // Parts of a path without a name are written as `.` or `?`.
        let path = error.path().to_string();
        let path = path.trim_matches(['.', '?']);
        field_fault(path, &error.inner().to_string())
    })
}

/// The fault that a message of the reader is about. Its wording is not ours, so only what is known of it is used.
fn field_fault(path: &str, message: &str) -> FieldFault {
    let quoted = message.split('`').nth(1).unwrap_or_default();
    let below = || match path {
        "" => quoted.to_owned(),
        path => format!("{path}.{quoted}"),
    };
    if message.starts_with("missing field") {
        return FieldFault { field: below(), message: "is missing" };
    }
    // Here the path leads to the field itself.
    if message.starts_with("unknown field") {
        return FieldFault { field: path.to_owned(), message: "there is no such field" };
    }
    let expected = message.rsplit_once("expected ").map_or("", |(_, expected)| expected);
    let message = match expected.split([' ', ',']).next().unwrap_or_default() {
        "struct" | "map" | "internally" | "adjacently" => "must be an object",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "must be a whole number",
        "sequence" | "tuple" => "must be a list",
        "a" if expected.starts_with("a string") => "must be a string",
        "a" if expected.starts_with("a map") => "must be an object",
        "a" if expected.starts_with("a sequence") => "must be a list",
        "a" if expected.starts_with("a boolean") => "must be true or false",
        _ => "is not one of the values there are",
    };
    FieldFault { field: path.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is only read")]
    struct Outer {
        name: String,
        chain: u64,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is only read")]
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
        check("", "the JSON ends too early");
        check("{", "the JSON ends too early");
        check("nonsense", "it is not JSON");
        check("[]", "it must be a JSON object");
        check("\"x\"", "it must be a JSON object");
        check("{}", "name: is missing");
        check(r#"{"name":1}"#, "name: must be a string");
        check(r#"{"name":"a","chain":"b"}"#, "chain: must be a whole number");
        check(r#"{"name":"a","chain":-1}"#, "chain: must be a whole number");
        check(r#"{"name":"a","chain":1,"more":2}"#, "more: there is no such field");
        check(r#"{"name":"a","chain":1,"inner":2}"#, "inner: must be an object");
        check(r#"{"name":"a","chain":1,"inner":{}}"#, "inner.list: is missing");
        check(r#"{"name":"a","chain":1,"inner":{"list":1}}"#, "inner.list: must be a list");
        check(r#"{"name":"a","chain":1,"inner":{"list":[1]}}"#, "inner.list[0]: must be a string");
        check(r#"{"name":"a","chain":1,"inner":{"list":[],"sure":1}}"#, "inner.sure: must be true or false");
    }
}
