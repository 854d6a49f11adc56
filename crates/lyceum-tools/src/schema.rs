//! JSON Schema 2020-12: made from Rust types, and used to check arguments before a tool runs.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use crate::{Error, mcp::JsonObject};

/// How many faults of one call are told at once.
const MAX_REPORTED_FAULTS: usize = 5;

/// A schema that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSchema {
    /// It is not valid JSON Schema, or refers to something outside itself.
    #[error("its schema is not valid JSON Schema 2020-12: {0}")]
    Malformed(String),
    /// Arguments are an object.
    #[error("its input schema must be of type \"object\"")]
    NotAnObject,
    /// An `x-mcp-header` is not one that clients can send.
    #[error("its x-mcp-header {name:?} must be a header name, used once, on a string, integer or boolean")]
    Header {
        /// The name as written.
        name: String,
    },
}

/// The schema of a type that is read, without the parts that only cost tokens (`$schema`, the type's Rust name).
pub fn schema_of<T: JsonSchema>() -> JsonObject {
    schema_by::<T>(SchemaSettings::draft2020_12())
}

/// The same of a type that is written: a field that may be left out is not required.
pub(crate) fn output_schema_of<T: JsonSchema>() -> JsonObject {
    schema_by::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema_by<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with_transform(RecursiveTransform(leave_out_formats_of_rust));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = match Value::from(schema) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    object.remove("$schema");
    object.remove("title");
    if object.get("type") == Some(&Value::from("object")) {
        // Some clients refuse a schema that does not say that there are no properties.
        object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    object
}

/// `uint` and its like are the names of Rust; clients warn of each.
fn leave_out_formats_of_rust(schema: &mut Schema) {
    let is_of_rust = |format: &str| format.starts_with("uint") || matches!(format, "int" | "int8" | "int16");
    if schema.get("format").and_then(Value::as_str).is_some_and(is_of_rust) {
        schema.remove("format");
    }
}

/// A schema that is ready for use. Nothing outside it is ever fetched: the features that could are off.
pub(crate) fn compiled(schema: &JsonObject) -> Result<Validator, InvalidSchema> {
    let schema = Value::Object(schema.clone());
    jsonschema::draft202012::new(&schema).map_err(|error| InvalidSchema::Malformed(error.to_string()))
}

/// A schema that is ready to check arguments.
#[derive(Debug)]
pub(crate) struct ArgumentCheck(Validator);

impl ArgumentCheck {
    pub(crate) fn new(schema: &JsonObject) -> Result<Self, InvalidSchema> {
        if schema.get("type") != Some(&Value::from("object")) {
            return Err(InvalidSchema::NotAnObject);
        }
        compiled(schema).map(Self)
    }

    /// Passes arguments that fit; else names each field that does not.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Error> {
        if self.0.is_valid(arguments) {
            return Ok(());
        }
        let mut faults = Vec::new();
        self.0
            .iter_errors(arguments)
            .take(MAX_REPORTED_FAULTS)
            .for_each(|fault| describe_fault(arguments, &fault, &mut faults));
        faults.truncate(MAX_REPORTED_FAULTS);
        let field = faults.first().map_or_else(|| "arguments".to_owned(), |(field, _)| field.clone());
        let message = faults.into_iter().map(|(_, message)| message).collect::<Vec<_>>().join("; ");
        Err(Error::Invalid { field, message })
    }
}

/// Notes the field and the message of a fault. A value that fits none of several schemas is judged by the one that
/// was meant, where only one takes values of its type: something optional is "this, or null".
fn describe_fault(arguments: &Value, fault: &ValidationError<'_>, found: &mut Vec<(String, String)>) {
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        fault.kind()
    {
        let is_of_another_type = |inner: &ValidationError<'_>| {
            matches!(inner.kind(), ValidationErrorKind::Type { .. })
                && inner.instance_path() == fault.instance_path()
        };
        let mut meant = context.iter().filter(|branch| !branch.iter().any(is_of_another_type));
        if let (Some(branch), None) = (meant.next(), meant.next()) {
            return branch.iter().for_each(|inner| describe_fault(arguments, inner, found));
        }
    }
    let mut field = field_of(fault);
    let mut what = fault.to_string();
    if let Some(key) = unwanted(arguments, fault) {
        field = format!("{field}.{key}");
        "there is no such argument".clone_into(&mut what);
    }
    if let ValidationErrorKind::Enum { options } = fault.kind()
        && let Some(options) = options.as_array()
    {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        what = format!("must be one of {}", options.join(", "));
    }
    let field = shortened(&field);
    let message = format!("{field}: {}", shortened(&what));
    found.push((field, message));
}

/// The key that an object which takes none was given; the fault itself only tells its value.
fn unwanted<'a>(arguments: &'a Value, fault: &ValidationError<'_>) -> Option<&'a String> {
    matches!(fault.kind(), ValidationErrorKind::FalseSchema).then_some(())?;
    let object = arguments.pointer(fault.instance_path().as_str())?.as_object()?;
    object.iter().find_map(|(key, value)| (*value == **fault.instance()).then_some(key))
}

/// `arguments.filter.tags.0`: where the fault is, and for a missing property the property itself.
fn field_of(fault: &ValidationError<'_>) -> String {
    let mut field = String::from("arguments");
    for part in fault.instance_path().as_str().split('/').skip(1) {
        field.push('.');
        field.push_str(&part.replace("~1", "/").replace("~0", "~"));
    }
    match fault.kind() {
        ValidationErrorKind::Required { property } => {
            field.push('.');
            field.push_str(property.as_str().unwrap_or_default());
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            field.push('.');
            field.push_str(unexpected.first().map_or("", String::as_str));
        }
        _ => {}
    }
    field
}

/// Messages quote names and values; a large one would fill the answer.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 300;
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
