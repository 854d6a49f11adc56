//! Checking the fields of a document against its type.
//!
//! Real documents are messy. What can be read as it was meant is read so and told (a single text where a list should
//! be); what can't is told, and the document is kept as it is.

use serde_json::{Map, Value};

use super::{
    ContentType,
    dates::{self, moment},
    definition::{FieldDefinition, FieldKind},
};

/// Something in the frontmatter that is not as its type has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// The field.
    pub field: String,
    /// What is wrong, and what to write.
    pub message: String,
}

/// Everything that is not as the type has it, and the fields with what could be mended.
pub fn check(
    content_type: &ContentType,
    fields: &Map<String, Value>,
) -> (Map<String, Value>, Vec<FieldFault>) {
    let mut faults = Vec::new();
    let mut mended = fields.clone();
    for (name, definition) in &content_type.fields {
        let mut tell = |message: String| faults.push(FieldFault { field: name.clone(), message });
        match fields.get(name) {
            None | Some(Value::Null) if definition.required => {
                tell(format!("is missing; write {name}: {}", example(definition)));
            }
            None | Some(Value::Null) => {}
            Some(value) => match read(definition, value) {
                FieldCheck::Fits => {}
                FieldCheck::Mended(value, message) => {
                    tell(message);
                    mended.insert(name.clone(), value);
                }
                FieldCheck::Wrong(message) => {
                    tell(format!("{message}; write {name}: {}", example(definition)));
                }
            },
        }
    }
    (mended, faults)
}

enum FieldCheck {
    Fits,
    Mended(Value, String),
    Wrong(String),
}

fn read(definition: &FieldDefinition, value: &Value) -> FieldCheck {
    match definition.kind {
        FieldKind::Any => FieldCheck::Fits,
        FieldKind::Text => match value {
            Value::String(text) if definition.required && text.trim().is_empty() => {
                FieldCheck::Wrong("is empty".to_owned())
            }
            Value::String(_) => FieldCheck::Fits,
            Value::Number(_) | Value::Bool(_) => FieldCheck::Mended(
                Value::String(value.to_string()),
                "is not text; put it in quotes".to_owned(),
            ),
            Value::Null | Value::Array(_) | Value::Object(_) => FieldCheck::Wrong("is not text".to_owned()),
        },
        FieldKind::Texts => match value {
            Value::Array(items) if items.iter().all(Value::is_string) => FieldCheck::Fits,
            Value::String(text) => FieldCheck::Mended(
                Value::Array(vec![Value::String(text.clone())]),
                "is one text; write it as a list".to_owned(),
            ),
            _ => FieldCheck::Wrong("is not a list of texts".to_owned()),
        },
        FieldKind::Bool => match value {
            Value::Bool(_) => FieldCheck::Fits,
            _ => FieldCheck::Wrong("is neither true nor false".to_owned()),
        },
        FieldKind::Date => match value.as_str() {
            Some(text) if moment(text).is_some() => FieldCheck::Fits,
            text => match text.and_then(dates::standard_form) {
                Some(form) => {
                    let message = format!("is not in the standard form; write {form}");
                    FieldCheck::Mended(Value::String(form), message)
                }
                None => FieldCheck::Wrong("is not a date".to_owned()),
            },
        },
        FieldKind::Url => fits(value.as_str().is_some_and(is_url), "is not an address of the web"),
        FieldKind::Email => fits(value.as_str().is_some_and(is_email), "is not an e-mail address"),
        FieldKind::Choice => {
            let chosen = value.as_str().is_some_and(|text| definition.of.iter().any(|one| one == text));
            fits(chosen, &format!("is none of {}", definition.of.join(", ")))
        }
        FieldKind::Place => {
            let number = |key| value.get(key).is_some_and(Value::is_number);
            fits(number("lat") && number("lng"), "is not a place with lat and lng")
        }
    }
}

fn fits(fits: bool, message: &str) -> FieldCheck {
    if fits { FieldCheck::Fits } else { FieldCheck::Wrong(message.to_owned()) }
}

/// Scheme, host and what follows; enough to tell an address from a text.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let host = rest.strip_prefix("//").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let web = matches!(scheme, "http" | "https");
    scheme_fits
        && !rest.is_empty()
        && !text.contains(char::is_whitespace)
        && (!web || host.is_some_and(|host| !host.is_empty()))
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
