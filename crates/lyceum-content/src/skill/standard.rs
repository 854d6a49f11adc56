//! The Agent Skills standard: what a `SKILL.md` must say, and what it says wrongly.

use serde_json::{Map, Value};

use super::tokens;

/// How many files a skill may have to be served by the skills extension.
pub const MAX_SKILL_FILES: usize = 512;

/// How many bytes all its files may have together.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// How many keywords are taken from name and description: few enough that one that fits is a match.
const DERIVED_KEYWORDS: usize = 5;

/// Words that descriptions of skills are full of, and that tell none from another.
const FILLERS: [&str; 16] = [
    "use", "using", "used", "uses", "user", "users", "skill", "skills", "whenever", "asks", "ask", "asked",
    "help", "helps", "provides", "guide",
];

/// A skill of the standard, as its frontmatter says.
#[derive(Debug, Clone, PartialEq)]
pub struct Standard {
    /// The frontmatter, verbatim.
    pub frontmatter: Map<String, Value>,
    /// The name, where it is one that the standard allows.
    pub name: Option<String>,
    /// What keeps it from clients that go by the standard: it is served by the tools alone.
    pub faults: Vec<String>,
    /// What the standard would have otherwise, and clients do not mind.
    pub remarks: Vec<String>,
}

/// Checks frontmatter against the standard; `folder` is the name of the folder that the file is in.
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
        optional.iter().filter_map(|(key, most)| text_fault(fields, key, *most)).collect();
    match fields.get("metadata") {
        None | Some(Value::Null) => {}
        Some(Value::Object(metadata)) if metadata.values().all(Value::is_string) => {}
        Some(_) => {
            remarks.push("metadata: is not a list of names with text; put the values in quotes".to_owned());
        }
    }
    Standard { frontmatter: fields.clone(), name, faults, remarks }
}

/// Keywords for a skill that declares none: the words of its name, then the first of its description.
pub(super) fn keywords(name: &str, description: &str) -> Vec<String> {
    let mut words = tokens::words(&name.replace('-', " "));
    words.extend(
        tokens::words(description)
            .into_iter()
            .filter(|word| word.chars().count() > 2 && !FILLERS.contains(&word.as_str())),
    );
    let mut keywords = Vec::new();
    for word in words {
        if keywords.len() < DERIVED_KEYWORDS && !keywords.contains(&word) {
            keywords.push(word);
        }
    }
    keywords
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// What is wrong with an optional field that must be text of at most so many characters.
fn text_fault(fields: &Map<String, Value>, key: &str, longest: usize) -> Option<String> {
    match fields.get(key)? {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => Some(format!("{key}: is empty")),
        Value::String(text) if text.chars().count() > longest => {
            Some(format!("{key}: is longer than {longest} characters"))
        }
        Value::String(_) => None,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(format!("{key}: is not text; write it as one line, in quotes if need be"))
        }
    }
}
