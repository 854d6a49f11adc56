//! Frontmatter: the YAML between two lines of `---` at the head of a markdown file.
//!
//! Frontmatter is untrusted input, so every size is bounded: neither an alias bomb nor 40 KB of nested brackets is
//! expensive to parse.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Maximum size of the frontmatter, in bytes.
const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;

/// A markdown file, split into frontmatter and body.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts<'a> {
    /// The fields of the frontmatter, as written.
    pub fields: Map<String, Value>,
    /// The text after the frontmatter.
    pub body: &'a str,
}

/// Why the frontmatter of a file is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterFault {
    /// The file does not begin with `---`.
    #[error("it has no frontmatter; begin the file with a line of --- and the fields")]
    Missing,
    /// The first line names a language other than YAML; such code is never run.
    #[error("its frontmatter is not YAML but {0:?}; begin it with a plain line of ---")]
    Language(String),
    /// There is no closing `---`.
    #[error("its frontmatter is not closed; end it with a line of ---")]
    Unclosed,
    /// It exceeds the size limit.
    #[error("its frontmatter is larger than 64 KiB")]
    TooLarge,
    /// It is invalid YAML, or exceeds the parser's limits.
    #[error("its frontmatter can't be parsed as YAML: {0}")]
    Yaml(String),
    /// It is YAML, but not a mapping.
    #[error("its frontmatter is not a YAML mapping; write lines such as \"description: …\"")]
    NotFields,
}

/// Splits a markdown file into frontmatter and body.
pub fn parse(text: &str) -> Result<Parts<'_>, FrontmatterFault> {
    let (yaml, body) = split(text)?;
    match yaml_value::<Value>(yaml).map_err(FrontmatterFault::Yaml)? {
        Value::Object(fields) => Ok(Parts { fields, body }),
        Value::Null => Ok(Parts { fields: Map::new(), body }),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(FrontmatterFault::NotFields)
        }
    }
}

/// Parses YAML within tight limits: `yes` is a string, duplicate keys are errors.
pub fn yaml_value<T: DeserializeOwned>(yaml: &str) -> Result<T, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        // As in YAML 1.2: clients parse the file themselves and compare it with our response.
        merge_keys: serde_saphyr::options::MergeKeyPolicy::AsOrdinary,
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_nodes: 5_000,
            max_aliases: 64,
            max_anchors: 32,
            max_events: 20_000,
            max_documents: 1,
            max_total_scalar_bytes: 256 * 1024,
        },
    };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
        let text = error.without_snippet().to_string();
        // One line is enough to locate the error, and a broken file must not flood the log.
        text.lines().next().unwrap_or_default().chars().take(200).collect()
    })
}

/// Line number of a field, from 1; 1 if the field is missing.
pub fn line_of(text: &str, field: &str) -> usize {
    let names = |line: &str| line.strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let head = text.lines().enumerate().take_while(|(at, line)| *at == 0 || line.trim_end() != "---");
    head.filter(|(_, line)| names(line)).map(|(at, _)| at + 1).next().unwrap_or(1)
}

/// Splits a file into the YAML and the body. The YAML begins with the line break of the first line, so that the parser
/// counts lines as in the file.
fn split(text: &str) -> Result<(&str, &str), FrontmatterFault> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let language = first.trim_end().strip_prefix("---").ok_or(FrontmatterFault::Missing)?.trim();
    match language {
        "" | "yaml" | "yml" => {}
        // A horizontal rule or a heading, not frontmatter.
        other if other.starts_with('-') => return Err(FrontmatterFault::Missing),
        other => return Err(FrontmatterFault::Language(other.chars().take(20).collect())),
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let yaml = text.get(first.len()..first.len() + 1 + end).unwrap_or_default();
            return Ok((yaml, rest.get(end + line.len()..).unwrap_or_default()));
        }
        end += line.len();
        if end > MAX_FRONTMATTER_BYTES {
            return Err(FrontmatterFault::TooLarge);
        }
    }
    Err(FrontmatterFault::Unclosed)
}

#[cfg(test)]
mod tests;
