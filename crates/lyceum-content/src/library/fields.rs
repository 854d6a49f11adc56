//! Fields of frontmatter as people write them.

use lyceum_model::RelPath;
use serde_json::{Map, Value};

use super::{Files, IndexFinding};
use crate::frontmatter::{self, FrontmatterFault};

/// The frontmatter of a file; empty if it has none. What is there but unusable is a finding.
pub(super) fn of_file(
    files: &Files<'_>,
    path: &RelPath,
    findings: &mut Vec<IndexFinding>,
) -> Map<String, Value> {
    let fault = match (files.read)(path).as_deref().map(frontmatter::parse) {
        Some(Ok(parts)) => return parts.fields,
        Some(Err(FrontmatterFault::Missing)) => return Map::new(),
        Some(Err(fault)) => fault.to_string(),
        None => "it is not readable as UTF-8 text, or too large".to_owned(),
    };
    findings.push(IndexFinding { file: path.clone(), message: fault });
    Map::new()
}

/// The first of these fields that is there, as text.
pub(super) fn text(fields: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let value = keys.iter().find_map(|key| fields.get(*key))?;
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        // `argument-hint: [issue]` is YAML for a list.
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(scalar).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Null | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The first of these fields that is there, as a flag.
pub(super) fn flag(fields: &Map<String, Value>, keys: &[&str]) -> Option<bool> {
    match keys.iter().find_map(|key| fields.get(*key))? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The first of these fields that is there, as a list: of YAML, or text with commas.
pub(super) fn list(fields: &Map<String, Value>, keys: &[&str]) -> Option<Vec<String>> {
    match keys.iter().find_map(|key| fields.get(*key))? {
        Value::Array(items) => Some(items.iter().filter_map(scalar).collect()),
        Value::String(text) => Some(split(text)),
        // `tools: { write: false }`: the tools that are on.
        Value::Object(tools) => {
            let on = tools.iter().filter(|(_, is_on)| **is_on != Value::Bool(false));
            Some(on.map(|(name, _)| name.clone()).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Splits at commas, except within parentheses: `Bash(git log, git diff), Read`.
fn split(text: &str) -> Vec<String> {
    let (mut items, mut item, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            _ => {
                depth = match c {
                    '(' => depth + 1,
                    ')' => depth.saturating_sub(1),
                    _ => depth,
                };
                item.push(c);
            }
        }
    }
    items.push(item);
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
