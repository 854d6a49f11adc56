//! Validates a `SKILL.md` against the Agent Skills standard.

use serde_json::{Map, Value};

/// Maximum number of files of a skill served by the skills extension.
pub const MAX_SKILL_FILES: usize = 512;

/// Maximum total size of its files, in bytes.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// The frontmatter of an Agent Skill, validated.
#[derive(Debug, Clone, PartialEq)]
pub struct Standard {
    /// The frontmatter, verbatim.
    pub frontmatter: Map<String, Value>,
    /// The name, if the standard allows it.
    pub name: Option<String>,
    /// Violations that exclude it from the skills extension; the tools still serve it.
    pub faults: Vec<String>,
    /// Violations that clients tolerate.
    pub remarks: Vec<String>,
}

/// Validates frontmatter against the standard; `folder` is the name of the file's folder.
pub(super) fn standard(fields: &Map<String, Value>, folder: Option<&str>) -> Standard {
    let mut faults = Vec::new();
    let name = match fields.get("name") {
        Some(Value::String(name)) if is_name(name) => {
            if let Some(folder) = folder.filter(|folder| folder != name) {
                faults.push(format!(
                    "name: is {name:?}, but the folder is {folder:?}; give both the same name"
                ));
            }
            Some(name.clone())
        }
        Some(Value::String(name)) => {
            faults.push(format!(
                "name: {:?} is not 1 to 64 of a-z, 0-9 and single hyphens between them",
                name.chars().take(80).collect::<String>()
            ));
            None
        }
        None | Some(Value::Null) => {
            faults.push("name: is missing".to_owned());
            None
        }
        Some(_) => {
            faults.push("name: is not text; put it in quotes".to_owned());
            None
        }
    };
    faults.extend(text_fault(fields, "description", 1024));
    if fields.get("description").is_none_or(Value::is_null) {
        faults.push("description: is missing".to_owned());
    }
    let optional = [("compatibility", 500), ("license", usize::MAX), ("allowed-tools", usize::MAX)];
    let mut remarks: Vec<String> =
        optional.iter().filter_map(|(key, max_chars)| text_fault(fields, key, *max_chars)).collect();
    match fields.get("metadata") {
        None | Some(Value::Null) => {}
        Some(Value::Object(metadata)) if metadata.values().all(Value::is_string) => {}
        Some(_) => {
            remarks.push("metadata: is not a mapping of strings; put the values in quotes".to_owned());
        }
    }
    Standard { frontmatter: fields.clone(), name, faults, remarks }
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Checks an optional field that must be a string of at most `max_chars` characters.
fn text_fault(fields: &Map<String, Value>, key: &str, max_chars: usize) -> Option<String> {
    match fields.get(key)? {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => Some(format!("{key}: is empty")),
        Value::String(text) if text.chars().count() > max_chars => {
            Some(format!("{key}: is longer than {max_chars} characters"))
        }
        Value::String(_) => None,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(format!("{key}: is not text; write it as one line, in quotes if need be"))
        }
    }
}
