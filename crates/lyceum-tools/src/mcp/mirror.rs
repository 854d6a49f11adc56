//! The HTTP headers that mirror parts of a request, so that proxies can route without parsing bodies.
//!
//! They must match the body: a proxy and this server must never act on two different requests.

use std::{borrow::Cow, collections::BTreeSet};

use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::model::{ErrorData, JsonObject};
use serde_json::Value;

use super::Request;
use crate::InvalidSchema;

/// The value of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header<'a> {
    /// Not sent.
    Absent,
    /// Sent once, as visible ASCII.
    Text(&'a str),
    /// Sent more than once, or not visible ASCII.
    Unreadable,
}

/// The mirrored headers of one request.
pub struct Mirror<'a> {
    /// `MCP-Protocol-Version`.
    pub version: Header<'a>,
    /// `Mcp-Method`.
    pub method: Header<'a>,
    /// `Mcp-Name`.
    pub name: Header<'a>,
    /// Looks up any other header, by its name in lower case.
    pub other: &'a (dyn Fn(&str) -> Header<'a> + Sync),
}

impl Mirror<'_> {
    pub(crate) fn check_version(&self, version: &str) -> Result<(), ErrorData> {
        self.version.expect("MCP-Protocol-Version", version)
    }

    /// Checks `Mcp-Method` always, and `Mcp-Name` if the method takes a name. For an extension method the
    /// specification does not require `Mcp-Name`, but if it is sent, it must match the body.
    pub(crate) fn check_names(&self, request: &Request) -> Result<(), ErrorData> {
        self.method.expect("Mcp-Method", &request.method)?;
        match request.method.as_str() {
            "tools/call" | "prompts/get" | "resources/read" => {
                self.name.expect_encoded("Mcp-Name", |sent| sent == request.name().unwrap_or_default())
            }
            _ if self.name == Header::Absent || request.named().next().is_none() => Ok(()),
            _ => self.name.expect_encoded("Mcp-Name", |sent| request.named().any(|name| name == sent)),
        }
    }

    /// Checks `Mcp-Param-…` for each argument that the tool's schema marks as mirrored.
    pub(crate) fn check_arguments(
        &self,
        request: &Request,
        mirrored: &[MirroredArgument],
    ) -> Result<(), ErrorData> {
        for argument in mirrored {
            let header = (self.other)(&format!("mcp-param-{}", argument.header.to_ascii_lowercase()));
            let label = format!("Mcp-Param-{}", argument.header);
            match argument.value_in(request.params.get("arguments")) {
                Some(value) => header.expect_encoded(&label, |sent| matches_value(sent, value))?,
                None if header == Header::Absent => {}
                None => return Err(mismatch(&label, "is sent, but the body lacks that argument")),
            }
        }
        Ok(())
    }
}

impl<'a> Header<'a> {
    fn expect(self, label: &str, wanted: &str) -> Result<(), ErrorData> {
        if self.text(label)? == wanted {
            return Ok(());
        }
        Err(mismatch(label, "does not match the body"))
    }

    fn expect_encoded(self, label: &str, agrees: impl FnOnce(&str) -> bool) -> Result<(), ErrorData> {
        let sent = decode(self.text(label)?).ok_or_else(|| mismatch(label, "is not valid Base64"))?;
        if agrees(&sent) {
            return Ok(());
        }
        Err(mismatch(label, "does not match the body"))
    }

    fn text(self, label: &str) -> Result<&'a str, ErrorData> {
        match self {
            Self::Text(text) => Ok(text.trim_matches([' ', '\t'])),
            Self::Absent => Err(mismatch(label, "is missing")),
            Self::Unreadable => Err(mismatch(label, "must be sent once, in visible ASCII")),
        }
    }
}

fn mismatch(header: &str, what: &str) -> ErrorData {
    ErrorData::header_mismatch(format!("Header mismatch: {header} {what}"), None)
}

/// Decodes `=?base64?…?=`, which carries what a header can't; any other text is literal.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    match text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(Cow::Borrowed(text)),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

fn matches_value(sent: &str, wanted: &Value) -> bool {
    match wanted {
        Value::String(text) => sent == text,
        Value::Bool(truth) => sent == if *truth { "true" } else { "false" },
        Value::Number(number) => match (number.as_i128(), sent.parse::<i128>()) {
            (Some(number), Ok(sent)) => number == sent,
            // `42.0` equals 42. But above 2^53 an `f64` can't represent every integer, so only an exact integer
            // matches.
            (Some(number), Err(_)) if number.unsigned_abs() > 1 << f64::MANTISSA_DIGITS => false,
            _ => sent.parse::<f64>().ok() == number.as_f64(),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// An argument that a tool's schema marks with `x-mcp-header`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MirroredArgument {
    path: Vec<String>,
    header: String,
}

impl MirroredArgument {
    /// Finds all marked arguments of a schema. Only those below a chain of `properties` count, as the specification
    /// says.
    pub(crate) fn all(schema: &JsonObject) -> Result<Vec<Self>, InvalidSchema> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        let mut names = BTreeSet::new();
        match found.iter().find(|argument| !names.insert(argument.header.to_ascii_lowercase())) {
            Some(duplicate) => Err(InvalidSchema::Header { name: duplicate.header.clone() }),
            None => Ok(found),
        }
    }

    fn value_in<'v>(&self, arguments: Option<&'v Value>) -> Option<&'v Value> {
        let start = arguments?;
        let value = self.path.iter().try_fold(start, |value, key| value.get(key))?;
        (!value.is_null()).then_some(value)
    }
}

/// The arguments of a tool that a client sends in headers too.
#[derive(Debug, Clone, Default)]
pub struct ArgumentHeaders(Vec<MirroredArgument>);

impl ArgumentHeaders {
    /// Finds the marked arguments of an input schema.
    pub fn of(schema: &JsonObject) -> Result<Self, InvalidSchema> {
        MirroredArgument::all(schema).map(Self)
    }

    /// Name and value of each header of a call.
    pub fn of_call(&self, arguments: &Value) -> Vec<(String, String)> {
        let header = |argument: &MirroredArgument| {
            let text = match argument.value_in(Some(arguments))? {
                Value::String(text) => encode(text),
                other => other.to_string(),
            };
            Some((format!("mcp-param-{}", argument.header.to_ascii_lowercase()), text))
        };
        self.0.iter().filter_map(header).collect()
    }
}

/// Encodes a text for a header: as it is, or as `=?base64?…?=` if a header can't carry it.
pub fn encode(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if is_plain && text.trim() == text && !text.starts_with("=?base64?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
}

fn collect(
    schema: &JsonObject,
    path: &mut Vec<String>,
    found: &mut Vec<MirroredArgument>,
) -> Result<(), InvalidSchema> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object() else { continue };
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header") {
            let header = header.as_str().unwrap_or_default().to_owned();
            let simple = matches!(
                property.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "boolean")
            );
            if !simple || !is_header_name(&header) {
                return Err(InvalidSchema::Header { name: header });
            }
            found.push(MirroredArgument { path: path.clone(), header });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn is_header_name(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(token)
}
