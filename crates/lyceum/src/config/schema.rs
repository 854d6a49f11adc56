//! The schema of the configuration, and its faults in the reader's words.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::{
    document::{Document, escaped},
    fault::Fault,
    raw::Raw,
};

/// The JSON schema of `lyceum.toml`, for editors.
pub fn json_schema() -> Value {
    let schema =
        schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Raw>();
    let mut schema = Value::from(schema);
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), Value::from("lyceum.toml"));
    }
    schema
}

/// Every way in which the document does not fit the schema.
pub(super) fn faults(document: &Document) -> Vec<Fault> {
    let schema = json_schema();
    let Ok(validator) = jsonschema::draft202012::new(&schema) else {
        return Vec::new();
    };
    validator.iter_errors(&document.values).flat_map(|error| explain(document, &schema, &error)).collect()
}

fn explain(document: &Document, schema: &Value, error: &ValidationError<'_>) -> Vec<Fault> {
    let pointer = error.instance_path().as_str().to_owned();
    let fault = |pointer: &str, message: String| Fault {
        place: document.place(pointer),
        key: dotted(pointer),
        message,
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = keys_at(schema, &pointer);
            let unknown =
                |key: &String| fault(&format!("{pointer}/{}", escaped(key)), unknown_key(key, &known));
            unexpected.iter().map(unknown).collect()
        }
        ValidationErrorKind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            let example = example_at(schema, &format!("{pointer}/{key}"));
            vec![fault(&pointer, format!("{key} is missing{}", write_this(key, example)))]
        }
        ValidationErrorKind::Type { kind } => {
            let wanted: Vec<String> = match kind {
                TypeKind::Single(one) => vec![one.to_string()],
                // Nobody can write null in TOML; it only says that the key may be left out.
                TypeKind::Multiple(many) => {
                    many.iter().map(|one| one.to_string()).filter(|one| one != "null").collect()
                }
            };
            vec![fault(&pointer, wrong_type(schema, &pointer, &wanted.join(" or ")))]
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            vec![fault(
                &pointer,
                format!("is not one of the values there are{}", suggestion(schema, &pointer)),
            )]
        }
        _ => vec![fault(&pointer, format!("{error}{}", suggestion(schema, &pointer)))],
    }
}

fn wrong_type(schema: &Value, pointer: &str, wanted: &str) -> String {
    let (key, example) = (dotted(pointer), example_at(schema, pointer));
    match (wanted, example) {
        ("object", _) => format!("must be a table; write [{key}] and its keys below it"),
        ("array", None) => format!("must be a list of tables; write [[{key}]] and its keys below it"),
        (_, example) => {
            let key = pointer.rsplit('/').next().unwrap_or_default();
            format!("must be {}{}", article(wanted), write_this(key, example))
        }
    }
}

fn unknown_key(key: &str, known: &[String]) -> String {
    let nearest = known.iter().max_by(|a, b| strsim::jaro(key, a).total_cmp(&strsim::jaro(key, b)));
    match nearest.filter(|near| strsim::jaro(key, near) > 0.8) {
        Some(near) => format!("there is no such key; did you mean {near}?"),
        None => format!("there is no such key; the keys here are {}", known.join(", ")),
    }
}

fn suggestion(schema: &Value, pointer: &str) -> String {
    let key = pointer.rsplit('/').next().unwrap_or_default();
    write_this(key, example_at(schema, pointer))
}

fn write_this(key: &str, example: Option<Value>) -> String {
    example.map_or_else(String::new, |example| format!("; write for example {key} = {example}"))
}

fn article(wanted: &str) -> String {
    let vowel = wanted.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {wanted}", if vowel { "an" } else { "a" })
}

/// `/source/0/name` as people write it: `source.0.name`.
fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~")
}

fn keys_at(schema: &Value, pointer: &str) -> Vec<String> {
    let properties = schema_at(schema, pointer).and_then(|schema| schema.get("properties"));
    properties.and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

fn example_at(schema: &Value, pointer: &str) -> Option<Value> {
    schema_at(schema, pointer)?.get("examples")?.get(0).cloned()
}

/// The part of the schema that rules the value at a pointer.
fn schema_at<'s>(schema: &'s Value, pointer: &str) -> Option<&'s Value> {
    let resolve = |part: &'s Value| match part.get("$ref").and_then(Value::as_str) {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')),
        None => Some(part),
    };
    pointer.split('/').skip(1).try_fold(schema, |part, key| {
        let inner = match key.parse::<usize>() {
            Ok(_) => part.get("items")?,
            Err(_) => part.get("properties")?.get(key)?,
        };
        resolve(inner)
    })
}
