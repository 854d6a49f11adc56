//! A team's own test set: `eval.yaml`, a list of queries with the files they should find.

use std::{fs, path::Path};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use lyceum_content::frontmatter::yaml_value;
use serde::Deserialize;
use serde_json::Value;

use super::{Expected, Question, Set, SetError};
use crate::filter::Filter;

/// Maximum file size, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// An entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    question: String,
    expect: Vec<String>,
    #[serde(default)]
    filters: Filters,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Filters {
    content_type: Option<String>,
    group: Option<String>,
    tags: Vec<String>,
    release: Option<String>,
    status: Option<String>,
    since: Option<String>,
    until: Option<String>,
    source: Option<String>,
    path: Option<String>,
    language: Option<String>,
}

/// Reads a file; `types` resolves a content type to itself and its subtypes. Blocks.
pub fn read(file: &Path, types: impl Fn(&str) -> Vec<String>) -> Result<Set, SetError> {
    let named = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let place = named(file.file_name()).unwrap_or_default();
    let fault = |message: String| SetError::new(place.clone(), message);
    let size = fs::metadata(file).map_err(|error| fault(format!("can't be read: {error}")))?.len();
    if size > MAX_FILE_BYTES {
        return Err(fault(format!("is larger than {MAX_FILE_BYTES} bytes; split it into several files")));
    }
    let text = fs::read_to_string(file).map_err(|error| fault(format!("can't be read: {error}")))?;
    let questions = parse(&place, &text, types)?;
    Ok(Set { name: named(file.file_stem()).unwrap_or_default(), questions })
}

/// Parses the queries.
fn parse(place: &str, text: &str, types: impl Fn(&str) -> Vec<String>) -> Result<Vec<Question>, SetError> {
    const EXAMPLE: &str =
        "write a list of entries such as\n- question: how do we deploy?\n  expect: [docs/deploy.md]";
    let written =
        yaml_value::<Value>(text).map_err(|error| SetError::new(place, format!("is not YAML: {error}")))?;
    let Value::Array(entries) = written else {
        return Err(SetError::new(place, format!("has no questions; {EXAMPLE}")));
    };
    if entries.is_empty() {
        return Err(SetError::new(place, format!("has no questions; {EXAMPLE}")));
    }
    let mut questions: Vec<Question> = Vec::with_capacity(entries.len());
    for (number, entry) in (1..).zip(entries) {
        let fault = |message: String| SetError::new(format!("{place}, entry {number}"), message);
        let entry: Entry =
            serde_json::from_value(entry).map_err(|error| fault(format!("{error}; {EXAMPLE}")))?;
        let question = question(entry, &types).map_err(fault)?;
        if let Some(first) = questions.iter().position(|other| other.id == question.id) {
            return Err(fault(format!("duplicates entry {}; merge the two", first + 1)));
        }
        questions.push(question);
    }
    Ok(questions)
}

fn question(entry: Entry, types: impl Fn(&str) -> Vec<String>) -> Result<Question, String> {
    let text = entry.question.trim().to_owned();
    if text.is_empty() {
        return Err("the question is empty; write a search query".to_owned());
    }
    if entry.expect.is_empty() || entry.expect.iter().any(|name| name.trim().is_empty()) {
        return Err("`expect` is empty; list paths, folders or type/id of the pages to find".to_owned());
    }
    let Filters { content_type, group, tags, release, status, since, until, source, path, language } =
        entry.filters;
    let content_types = match &content_type {
        None => Vec::new(),
        Some(name) => {
            let subtypes = types(name);
            if subtypes.is_empty() {
                return Err(format!("filters.contentType: there is no type {name:?}"));
            }
            subtypes
        }
    };
    let since = since.map(|day| Ok::<_, String>(day_bounds("since", &day)?.0)).transpose()?;
    let until = until.map(|day| Ok::<_, String>(day_bounds("until", &day)?.1)).transpose()?;
    let filter = Filter { content_types, group, tags, release, status, since, until, source, path, language };
    // The same text with other filters is another query.
    let id = if filter.is_empty() { text.clone() } else { format!("{text} {filter:?}") };
    Ok(Question { id, text, filter, expected: Expected::Named(entry.expect) })
}

/// First and last instant of a day, in UTC.
fn day_bounds(field: &str, text: &str) -> Result<(Timestamp, Timestamp), String> {
    let invalid = || format!("filters.{field}: {text:?} is not a day; write it as 2026-01-31");
    let day: Date = text.parse().map_err(|_| invalid())?;
    let first = day.to_zoned(TimeZone::UTC).map_err(|_| invalid())?;
    let last = first.end_of_day().map_err(|_| invalid())?;
    Ok((first.timestamp(), last.timestamp()))
}

#[cfg(test)]
mod tests;
