//! The JSON schema of the configuration, and its validation errors in plain words.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::{
    document::{Document, escaped},
    fault::Fault,
    raw::Raw,
    table::Table,
};
use crate::service::Kind;

/// The JSON schema of `lyceum.toml`, for editors.
pub fn json_schema(kinds: &[&'static Kind]) -> Value {
    let Schemas { mut root, tables } = Schemas::of(kinds);
    for (kind, table) in kinds.iter().zip(tables) {
        if let Some(properties) = root.pointer_mut("/properties").and_then(Value::as_object_mut) {
            properties.insert(kind.table.to_owned(), with_named_tables(table));
        }
    }
    root
}

/// The schema without services, and the schema of each kind of service.
struct Schemas {
    root: Value,
    tables: Vec<Value>,
}

impl Schemas {
    fn of(kinds: &[&'static Kind]) -> Self {
        let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
        let references: Vec<Value> =
            kinds.iter().map(|kind| Value::from((kind.schema)(&mut generator))).collect();
        let mut root = Value::from(generator.into_root_schema_for::<Raw>());
        if let Some(object) = root.as_object_mut() {
            object.insert("title".to_owned(), Value::from("lyceum.toml"));
        }
        let resolved = |reference: &Value| {
            let name = reference.get("$ref").and_then(Value::as_str).unwrap_or_default();
            let mut table = root.pointer(name.trim_start_matches('#')).unwrap_or(reference).clone();
            if let (Some(table), Some(definitions)) = (table.as_object_mut(), root.get("$defs")) {
                table.insert("$defs".to_owned(), definitions.clone());
                table.insert(NAME.to_owned(), name.into());
            }
            table
        };
        let tables = references.iter().map(resolved).collect();
        Self { root, tables }
    }
}

/// The key under which the schema of a table stores its `$ref` in the whole schema.
const NAME: &str = "$comment";

/// Allows a table to contain named tables of the same kind.
fn with_named_tables(mut table: Value) -> Value {
    if let Some(object) = table.as_object_mut() {
        object.remove("$defs");
        object.remove("required");
        let one = object.remove(NAME).unwrap_or_default();
        object.insert("additionalProperties".to_owned(), serde_json::json!({ "$ref": one }));
    }
    table
}

/// The keys of a service table.
pub(super) fn keys_of(kind: &'static Kind) -> Vec<String> {
    Schemas::of(&[kind]).tables.iter().flat_map(|table| keys_at(table, "")).collect()
}

/// All schema errors of a document: each service table against the schema of its kind, then the rest.
pub(super) fn faults(document: &Document, kinds: &[&'static Kind], tables: &[Table]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (kind, schema) in kinds.iter().zip(&Schemas::of(kinds).tables) {
        for table in tables.iter().filter(|table| table.kind.table == kind.table) {
            faults.extend(faults_at(document, &table.at, schema, &table.values));
        }
    }
    let mut rest = document.values.clone();
    if let Some(object) = rest.as_object_mut() {
        object.retain(|key, _| kinds.iter().all(|kind| kind.table != key));
    }
    faults.extend(faults_at(document, "", &json_schema(kinds), &rest));
    faults
}

/// All schema errors of the value at a pointer.
fn faults_at(document: &Document, at: &str, schema: &Value, value: &Value) -> Vec<Fault> {
    let Ok(validator) = jsonschema::draft202012::new(schema) else {
        return Vec::new();
    };
    validator.iter_errors(value).flat_map(|error| explain(document, at, schema, &error)).collect()
}

fn explain(document: &Document, at: &str, schema: &Value, error: &ValidationError<'_>) -> Vec<Fault> {
    let pointer = error.instance_path().as_str().to_owned();
    let fault = |pointer: &str, message: String| {
        let pointer = format!("{at}{pointer}");
        Fault { origin: document.origin(&pointer), key: document.shown(&pointer), message }
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = keys_at(schema, &pointer);
            let table = at.trim_start_matches('/').split('/').next().unwrap_or_default();
            let message = |key: &String| match replacement(table, key) {
                Some(replacement) => replacement.to_owned(),
                None => unknown_key(key, &known),
            };
            let unknown = |key: &String| fault(&format!("{pointer}/{}", escaped(key)), message(key));
            unexpected.iter().map(unknown).collect()
        }
        ValidationErrorKind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            let example = example_at(schema, &format!("{pointer}/{key}"));
            vec![fault(&pointer, format!("{key} is missing{}", with_example(key, example)))]
        }
        ValidationErrorKind::Type { kind } => {
            let wanted: Vec<String> = match kind {
                TypeKind::Single(one) => vec![one.to_string()],
                // TOML has no null; in the schema it only means that the key is optional.
                TypeKind::Multiple(many) => {
                    many.iter().map(|one| one.to_string()).filter(|one| one != "null").collect()
                }
            };
            vec![fault(&pointer, wrong_type(schema, at, &pointer, &wanted.join(" or ")))]
        }
        ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::Enum { .. } => {
            let allowed = allowed_values(schema, &pointer);
            let advice = if allowed.is_empty() {
                suggestion(schema, &pointer)
            } else {
                one_of(&allowed, error.instance().as_str())
            };
            vec![fault(&pointer, format!("is not an allowed value{advice}"))]
        }
        _ => vec![fault(&pointer, format!("{error}{}", suggestion(schema, &pointer)))],
    }
}

fn wrong_type(schema: &Value, at: &str, pointer: &str, wanted: &str) -> String {
    let (key, example) = (dotted(&format!("{at}{pointer}")), example_at(schema, pointer));
    match (wanted, example) {
        ("object", _) => format!("must be a table; write [{key}] and its keys below it"),
        ("array", None) => format!("must be an array of tables; write [[{key}]] and its keys below it"),
        (_, example) => {
            let key = key.rsplit('.').next().unwrap_or_default();
            format!("must be {}{}", article(wanted), with_example(key, example))
        }
    }
}

/// What to write instead of a key that no longer exists in a table.
fn replacement(table: &str, key: &str) -> Option<&'static str> {
    match (table, key) {
        ("knowledge", "api") => Some(
            "was replaced by the key public; write public = \"all\" for api = \"public\", \
             public = \"summaries\" (lists and search for everyone, full documents for members) or \
             public = \"nothing\" for \"member\" and \"off\"",
        ),
        ("knowledge", "publish_by_default") => Some(
            "was replaced by the key publish; write publish = \"all\" for true, publish = \"frontmatter\" for false",
        ),
        _ => None,
    }
}

fn unknown_key(key: &str, known: &[String]) -> String {
    match nearest(key, known) {
        Some(near) => format!("unknown key; did you mean {near}?"),
        None => format!("unknown key; valid keys: {}", known.join(", ")),
    }
}

/// Lists the allowed values, and the one that is probably meant.
fn one_of(allowed: &[String], written: Option<&str>) -> String {
    let list: Vec<String> = allowed.iter().map(|value| format!("{value:?}")).collect();
    let list = format!("; write one of {}", list.join(", "));
    match written.and_then(|written| nearest(written, allowed)) {
        Some(near) => format!("{list} (did you mean {near:?}?)"),
        None => list,
    }
}

/// The most similar text, if it is similar at all.
fn nearest<'a>(text: &str, known: &'a [String]) -> Option<&'a String> {
    let nearest = known.iter().max_by(|a, b| strsim::jaro(text, a).total_cmp(&strsim::jaro(text, b)));
    nearest.filter(|near| strsim::jaro(text, near) > 0.8)
}

fn suggestion(schema: &Value, pointer: &str) -> String {
    let key = pointer.rsplit('/').next().unwrap_or_default();
    with_example(key, example_at(schema, pointer))
}

fn with_example(key: &str, example: Option<Value>) -> String {
    example.map_or_else(String::new, |example| format!("; write for example {key} = {example}"))
}

fn article(wanted: &str) -> String {
    let vowel = wanted.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {wanted}", if vowel { "an" } else { "a" })
}

/// `/auth/hats` as a table is written: `auth.hats`.
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

/// The strings that a closed choice allows, in the order of the schema, which begins with the safest.
fn allowed_values(schema: &Value, pointer: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut parts: Vec<&Value> = schema_at(schema, pointer).into_iter().collect();
    while let Some(part) = parts.pop() {
        if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
            parts.extend(schema.pointer(reference.trim_start_matches('#')));
        }
        values.extend(part.get("const").and_then(Value::as_str).map(str::to_owned));
        let listed = part.get("enum").and_then(Value::as_array).into_iter().flatten();
        values.extend(listed.filter_map(Value::as_str).map(str::to_owned));
        let choices = ["oneOf", "anyOf"].into_iter().filter_map(|key| part.get(key)?.as_array());
        // Reversed, because the last one is popped first.
        parts.extend(choices.flatten().rev());
    }
    values
}

/// The part of the schema for the value at a pointer.
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
