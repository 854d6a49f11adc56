//! JSON Schema 2020-12: generated from Rust types, and used to validate arguments before a tool runs.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use crate::{Error, mcp::JsonObject};

/// Maximum number of validation errors in one response.
const MAX_REPORTED_FAULTS: usize = 5;

/// Why a schema can't be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSchema {
    /// Not valid JSON Schema, or with an external reference.
    #[error("its schema is not valid JSON Schema 2020-12: {0}")]
    Malformed(String),
    /// Arguments must be an object.
    #[error("its input schema must be of type \"object\"")]
    NotAnObject,
    /// An `x-mcp-header` is not a valid header name, is used twice, or is on a non-scalar argument.
    #[error("its x-mcp-header {name:?} must be a header name, used once, on a string, integer or boolean")]
    Header {
        /// The name as written.
        name: String,
    },
}

/// The schema of an input type, without the parts that only cost tokens (`$schema` and the Rust name of the type).
pub fn schema_of<T: JsonSchema>() -> JsonObject {
    schema_by::<T>(SchemaSettings::draft2020_12())
}

/// The schema of an output type: a field that may be skipped is not required.
pub(crate) fn output_schema_of<T: JsonSchema>() -> JsonObject {
    schema_by::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema_by<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with_transform(RecursiveTransform(remove_rust_formats));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = match Value::from(schema) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    object.remove("$schema");
    object.remove("title");
    if object.get("type") == Some(&Value::from("object")) {
        // Some clients reject an object schema without `properties`.
        object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    object
}

/// Removes Rust formats such as `uint`, which make clients warn.
fn remove_rust_formats(schema: &mut Schema) {
    let is_rust_format =
        |format: &str| format.starts_with("uint") || matches!(format, "int" | "int8" | "int16");
    if schema.get("format").and_then(Value::as_str).is_some_and(is_rust_format) {
        schema.remove("format");
    }
}

/// Compiles a schema. Nothing external is ever fetched: those features are disabled.
pub(crate) fn compile(schema: &JsonObject) -> Result<Validator, InvalidSchema> {
    let schema = Value::Object(schema.clone());
    jsonschema::draft202012::new(&schema).map_err(|error| InvalidSchema::Malformed(error.to_string()))
}

/// A compiled schema for structured results.
#[derive(Debug)]
pub struct SchemaValidator(Validator);

impl SchemaValidator {
    /// Compiles a schema.
    pub fn new(schema: &JsonObject) -> Result<Self, InvalidSchema> {
        compile(schema).map(Self)
    }

    /// Whether the value matches.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }
}

/// A compiled schema for arguments.
#[derive(Debug)]
pub(crate) struct ArgumentValidator(Validator);

impl ArgumentValidator {
    pub(crate) fn new(schema: &JsonObject) -> Result<Self, InvalidSchema> {
        if schema.get("type") != Some(&Value::from("object")) {
            return Err(InvalidSchema::NotAnObject);
        }
        compile(schema).map(Self)
    }

    /// Validates arguments; the error names each invalid field.
    pub(crate) fn validate(&self, arguments: &Value) -> Result<(), Error> {
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

/// Records the field and the message of a validation error. If a value matches no branch of an `anyOf`, but only one
/// branch accepts its type, the errors of that branch are reported: an optional value is "this, or null".
fn describe_fault(arguments: &Value, fault: &ValidationError<'_>, faults: &mut Vec<(String, String)>) {
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        fault.kind()
    {
        let is_type_error = |inner: &ValidationError<'_>| {
            matches!(inner.kind(), ValidationErrorKind::Type { .. })
                && inner.instance_path() == fault.instance_path()
        };
        let mut candidates = context.iter().filter(|branch| !branch.iter().any(is_type_error));
        if let (Some(branch), None) = (candidates.next(), candidates.next()) {
            return branch.iter().for_each(|inner| describe_fault(arguments, inner, faults));
        }
    }
    let mut field = field_of(fault);
    let mut what = fault.to_string();
    if let Some(key) = rejected_key(arguments, fault) {
        field = format!("{field}.{key}");
        "unknown argument".clone_into(&mut what);
    }
    if let ValidationErrorKind::Enum { options } = fault.kind()
        && let Some(options) = options.as_array()
    {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        what = format!("must be one of {}", options.join(", "));
    }
    let field = truncated(&field);
    let message = format!("{field}: {}", truncated(&what));
    faults.push((field, message));
}

/// The rejected key of an object that allows none. The validation error itself contains only the value.
fn rejected_key<'a>(arguments: &'a Value, fault: &ValidationError<'_>) -> Option<&'a String> {
    matches!(fault.kind(), ValidationErrorKind::FalseSchema).then_some(())?;
    let object = arguments.pointer(fault.instance_path().as_str())?.as_object()?;
    object.iter().find_map(|(key, value)| (*value == **fault.instance()).then_some(key))
}

/// The path of the error, such as `arguments.filter.tags.0`; for a missing property, the path of the property.
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

/// Truncates a message: it may quote a large value.
fn truncated(text: &str) -> String {
    const MAX_CHARS: usize = 300;
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
