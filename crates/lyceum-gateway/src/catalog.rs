//! What an upstream offers: its tools as it defines them, and those that can't be offered, with the reason.

use std::{collections::BTreeSet, sync::Arc};

use lyceum_model::Access;
use lyceum_tools::{
    Effect, Faults, SchemaValidator, ToolEntry, ToolSpec,
    mcp::{ArgumentHeaders, JsonObject, WireTool},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};

use crate::{DeclaredTool, Fault, Settings, naming::offered_name};

/// Maximum number of entries of one list.
const MAX_ENTRIES: usize = 5_000;

/// Maximum number of pages of one list.
const MAX_PAGES: usize = 200;

/// Everything that an upstream offers.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub tools: Vec<Arc<ToolDefinition>>,
    pub skipped: Vec<Skipped>,
    /// Hash of the raw definitions.
    pub fingerprint: [u8; 32],
}

/// A tool that can't be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name at the upstream, shortened.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// A tool of an upstream.
#[derive(Debug)]
pub(crate) struct ToolDefinition {
    /// Its name at the upstream.
    pub name: String,
    pub spec: ToolSpec,
    pub wire: WireTool,
    /// Arguments that requests repeat in headers.
    pub headers: ArgumentHeaders,
    pub output: Option<SchemaValidator>,
}

impl Catalog {
    /// The catalog of raw tool definitions. One bad definition costs only itself.
    pub(crate) fn of_tools(settings: &Settings, definitions: &[Box<RawValue>]) -> Self {
        let mut catalog = Self::default();
        let (mut names, mut hash) = (BTreeSet::new(), Sha256::new());
        for raw in definitions {
            hash.update(raw.get());
            hash.update(b"\n");
            let parsed = serde_json::from_str::<WireTool>(raw.get()).map_err(|_| Skipped {
                name: name_in(raw),
                reason: "its definition does not follow the protocol".to_owned(),
            });
            let Some(checked) = parsed.and_then(|wire| definition(settings, wire)).transpose() else {
                continue;
            };
            match checked {
                Ok(tool) if !names.insert(tool.spec.name.clone()) => catalog.skipped.push(Skipped {
                    name: shortened(&tool.name),
                    reason: "another tool has its name".to_owned(),
                }),
                Ok(tool) => catalog.tools.push(Arc::new(tool)),
                Err(skipped) => catalog.skipped.push(skipped),
            }
        }
        catalog.fingerprint = hash.finalize().into();
        catalog
    }

    /// The catalog of tools that the configuration declares.
    pub(crate) fn declared(settings: &Settings, tools: &[DeclaredTool]) -> Self {
        let mut catalog = Self::default();
        for tool in tools {
            match definition(settings, wire_of(tool)) {
                Ok(Some(tool)) => catalog.tools.push(Arc::new(tool)),
                Ok(None) => {}
                Err(skipped) => catalog.skipped.push(skipped),
            }
        }
        catalog
    }
}

/// Checks that a tool can be offered; `None` if the configuration excludes it.
fn definition(settings: &Settings, mut wire: WireTool) -> Result<Option<ToolDefinition>, Skipped> {
    let name = wire.name.to_string();
    let Some(access) = settings.access_of(&name) else { return Ok(None) };
    let skipped = |reason: String| Skipped { name: shortened(&name), reason };
    let spec = spec_of(&wire, access, offered_name(&settings.prefix, &name));
    wire.name = spec.name.clone().into();
    // Compiles both schemas, as registering the tool will.
    ToolEntry::new(spec.clone(), |_, _| async { Err(lyceum_tools::Error::internal("only checked")) })
        .map_err(|error| skipped(causes(&error)))?;
    let headers = ArgumentHeaders::of(&spec.input_schema).map_err(|error| skipped(error.to_string()))?;
    let output = spec.output_schema.as_ref().map(SchemaValidator::new).transpose();
    let output = output.map_err(|error| skipped(error.to_string()))?;
    Ok(Some(ToolDefinition { name, spec, wire, headers, output }))
}

fn spec_of(wire: &WireTool, access: Access, name: String) -> ToolSpec {
    let annotations = wire.annotations.as_ref();
    let is_read_only = annotations.and_then(|hints| hints.read_only_hint) == Some(true);
    let is_destructive = annotations.and_then(|hints| hints.destructive_hint) != Some(false);
    let title = wire.title.clone().or_else(|| annotations.and_then(|hints| hints.title.clone()));
    ToolSpec {
        title: title.unwrap_or_else(|| wire.name.to_string()),
        name,
        description: wire.description.clone().unwrap_or_default().into_owned(),
        access,
        input_schema: (*wire.input_schema).clone(),
        output_schema: wire.output_schema.as_deref().cloned(),
        effect: match (is_read_only, is_destructive) {
            (true, _) => Effect::Reads,
            (false, true) => Effect::Destroys,
            (false, false) => Effect::Writes,
        },
        faults: Faults::AsProtocolError,
    }
}

fn wire_of(tool: &DeclaredTool) -> WireTool {
    let schema = Arc::new(tool.input_schema.clone());
    let mut wire = WireTool::new(tool.name.clone(), tool.description.clone(), schema);
    wire.title.clone_from(&tool.title);
    wire.output_schema = tool.output_schema.clone().map(Arc::new);
    let hints = serde_json::json!({ "readOnlyHint": tool.is_read_only, "destructiveHint": false });
    wire.annotations = serde_json::from_value(hints).ok();
    wire
}

/// One page of `tools/list`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    tools: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

/// Collects the pages of a list, within limits.
#[derive(Default)]
pub(crate) struct Pages {
    pub entries: Vec<Box<RawValue>>,
    cursors: BTreeSet<String>,
}

impl Pages {
    /// Adds a page; returns the parameters of the request for the next one.
    pub(crate) fn add(&mut self, page: &RawValue) -> Result<Option<JsonObject>, Fault> {
        let page: Page =
            serde_json::from_str(page.get()).map_err(|_| Fault::Invalid("a list can't be parsed"))?;
        self.entries.extend(page.tools);
        let Some(cursor) = page.next_cursor else { return Ok(None) };
        if self.entries.len() > MAX_ENTRIES || self.cursors.len() > MAX_PAGES {
            return Err(Fault::Invalid("a list is too long"));
        }
        if !self.cursors.insert(cursor.clone()) {
            return Err(Fault::Invalid("the pages of a list repeat"));
        }
        Ok(Some(JsonObject::from_iter([("cursor".to_owned(), Value::from(cursor))])))
    }
}

/// The name in a definition that can't be used, for the operator.
fn name_in(raw: &RawValue) -> String {
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    shortened(value.get("name").and_then(Value::as_str).unwrap_or("(without a name)"))
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

/// An error with its causes on one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text.chars().take(300).collect()
}
