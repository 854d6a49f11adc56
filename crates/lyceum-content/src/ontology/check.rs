//! Validates the fields of a document against its type.
//!
//! Validation is lenient. A value with an obvious meaning, such as a single string instead of a list, is repaired and
//! reported. Any other invalid value is reported and left unchanged.

use serde_json::{Map, Value};

use super::{
    ContentType,
    dates::{self, moment},
    definition::{FieldDefinition, FieldKind},
};

/// A field that violates the schema of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// The field.
    pub field: String,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// Validates fields; returns them with repairs applied, and all violations.
pub fn check(
    content_type: &ContentType,
    fields: &Map<String, Value>,
) -> (Map<String, Value>, Vec<FieldFault>) {
    let mut faults = Vec::new();
    let mut repaired = fields.clone();
    for (name, definition) in &content_type.fields {
        let mut report = |message: String| faults.push(FieldFault { field: name.clone(), message });
        match fields.get(name) {
            None | Some(Value::Null) if definition.required => {
                report(format!("is missing; write {name}: {}", example(definition)));
            }
            None | Some(Value::Null) => {}
            Some(value) => match check_field(definition, value) {
                FieldCheck::Valid => {}
                FieldCheck::Repaired(value, message) => {
                    report(message);
                    repaired.insert(name.clone(), value);
                }
                FieldCheck::Invalid(message) => {
                    report(format!("{message}; write {name}: {}", example(definition)));
                }
            },
        }
    }
    (repaired, faults)
}

enum FieldCheck {
    Valid,
    Repaired(Value, String),
    Invalid(String),
}

fn check_field(definition: &FieldDefinition, value: &Value) -> FieldCheck {
    match definition.kind {
        FieldKind::Any => FieldCheck::Valid,
        FieldKind::Text => match value {
            Value::String(text) if definition.required && text.trim().is_empty() => {
                FieldCheck::Invalid("is empty".to_owned())
            }
            Value::String(_) => FieldCheck::Valid,
            Value::Number(_) | Value::Bool(_) => FieldCheck::Repaired(
                Value::String(value.to_string()),
                "is not text; put it in quotes".to_owned(),
            ),
            Value::Null | Value::Array(_) | Value::Object(_) => FieldCheck::Invalid("is not text".to_owned()),
        },
        FieldKind::Texts => match value {
            Value::Array(items) if items.iter().all(Value::is_string) => FieldCheck::Valid,
            Value::String(text) => FieldCheck::Repaired(
                Value::Array(vec![Value::String(text.clone())]),
                "is a single string; write it as a list".to_owned(),
            ),
            _ => FieldCheck::Invalid("is not a list of strings".to_owned()),
        },
        FieldKind::Bool => match value {
            Value::Bool(_) => FieldCheck::Valid,
            _ => FieldCheck::Invalid("is neither true nor false".to_owned()),
        },
        FieldKind::Date => match value.as_str() {
            Some(text) if moment(text).is_some() => FieldCheck::Valid,
            text => match text.and_then(dates::standard_form) {
                Some(form) => {
                    let message = format!("is not in the standard form; write {form}");
                    FieldCheck::Repaired(Value::String(form), message)
                }
                None => FieldCheck::Invalid("is not a date".to_owned()),
            },
        },
        FieldKind::Url => valid_if(value.as_str().is_some_and(is_url), "is not a URL"),
        FieldKind::Email => valid_if(value.as_str().is_some_and(is_email), "is not an e-mail address"),
        FieldKind::Choice => {
            let chosen = value.as_str().is_some_and(|text| definition.of.iter().any(|one| one == text));
            valid_if(chosen, &format!("is none of {}", definition.of.join(", ")))
        }
        FieldKind::Place => {
            let number = |key| value.get(key).is_some_and(Value::is_number);
            valid_if(number("lat") && number("lng"), "is not a place with lat and lng")
        }
    }
}

fn valid_if(valid: bool, message: &str) -> FieldCheck {
    if valid { FieldCheck::Valid } else { FieldCheck::Invalid(message.to_owned()) }
}

/// Checks for a scheme and, with http(s), a host; enough to tell a URL from other text.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let valid_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let host = rest.strip_prefix("//").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_http = matches!(scheme, "http" | "https");
    valid_scheme
        && !rest.is_empty()
        && !text.contains(char::is_whitespace)
        && (!is_http || host.is_some_and(|host| !host.is_empty()))
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && !text.contains(char::is_whitespace)
            && !host.contains('@')
            && host.split('.').count() > 1
            && host.split('.').all(|part| !part.is_empty())
    })
}

fn example(definition: &FieldDefinition) -> String {
    match definition.kind {
        FieldKind::Text | FieldKind::Any => "\"…\"".to_owned(),
        FieldKind::Texts => "[\"…\"]".to_owned(),
        FieldKind::Bool => "true".to_owned(),
        FieldKind::Date => "2026-01-31".to_owned(),
        FieldKind::Url => "https://example.org".to_owned(),
        FieldKind::Email => "name@example.org".to_owned(),
        FieldKind::Choice => definition.of.first().cloned().unwrap_or_default(),
        FieldKind::Place => "{ lat: 52.5, lng: 13.4 }".to_owned(),
    }
}
