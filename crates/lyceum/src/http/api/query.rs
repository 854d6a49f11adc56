//! Parses and validates the query string of a list request.

use std::borrow::Cow;

use lyceum_content::{knowledge::Filter, ontology::Ontology};
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;

use super::openapi::ContentTypeName;
use crate::http::ApiError;

/// Default number of entries per page.
const DEFAULT_LIMIT: usize = 20;

/// Maximum number of entries per page.
const MAX_LIMIT: usize = 100;

/// Maximum offset: larger integers are not exact in JavaScript.
const MAX_OFFSET: usize = 9_007_199_254_740_991;

/// Maximum number of tags in one request.
pub(super) const MAX_TAGS: usize = 50;

/// The query parameters, for OpenAPI.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI; the handler parses the query itself")]
#[schemars(rename_all = "camelCase")]
pub(super) struct ListQuery {
    /// Only documents of this type, including its subtypes.
    content_type: Option<ContentTypeName>,
    /// Only documents of this group.
    #[schemars(length(min = 1))]
    group: Option<String>,
    /// Only documents of this release.
    #[schemars(length(min = 1))]
    release: Option<String>,
    /// Only documents with this status.
    #[schemars(length(min = 1))]
    status: Option<String>,
    /// Only documents with any of these tags; repeat the parameter or separate them by commas.
    #[schemars(length(max = MAX_TAGS), inner(length(min = 1), regex(pattern = "[^,]")))]
    tag: Option<Vec<String>>,
    /// Maximum number of entries.
    #[schemars(range(min = 1, max = MAX_LIMIT), extend("default" = DEFAULT_LIMIT))]
    limit: Option<u32>,
    /// Number of entries to skip.
    #[schemars(range(max = MAX_OFFSET), extend("default" = 0))]
    offset: Option<u64>,
}

/// A parsed list request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListRequest {
    pub(super) filter: Filter,
    pub(super) limit: usize,
    pub(super) offset: usize,
}

impl ListRequest {
    /// Parses a query string; unknown parameters are ignored.
    pub(super) fn parse(query: &str, ontology: &Ontology) -> Result<Self, ApiError> {
        let mut filter = Filter::default();
        let (mut limit, mut offset) = (None, None);
        for (name, value) in pairs(query) {
            let text = || value.clone().ok_or_else(|| not_text(&name));
            match name.as_ref() {
                "contentType" => once(&name, &mut filter.content_type, known_type(ontology, text()?)?)?,
                "group" => once(&name, &mut filter.group, non_empty(&name, text()?)?)?,
                "release" => once(&name, &mut filter.release, non_empty(&name, text()?)?)?,
                "status" => once(&name, &mut filter.status, non_empty(&name, text()?)?)?,
                "tag" => add_tags(&mut filter.tags, &text()?)?,
                "limit" => once(&name, &mut limit, number(&name, &text()?, 1, MAX_LIMIT, DEFAULT_LIMIT)?)?,
                "offset" => once(&name, &mut offset, number(&name, &text()?, 0, MAX_OFFSET, 0)?)?,
                _ => {}
            }
        }
        Ok(Self { filter, limit: limit.unwrap_or(DEFAULT_LIMIT), offset: offset.unwrap_or(0) })
    }
}

/// The decoded parameters of a query string; a value that is not valid UTF-8 is `None`.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Option<String>)> {
    query.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decoded(name)?, decoded(value).map(Cow::into_owned)))
    })
}

/// Decodes a part of a query string; `None` if it is not valid UTF-8.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return percent_decoded(&spaced).map(|text| Cow::Owned(text.into_owned()));
    }
    percent_decoded(text)
}

/// Decodes percent-encoding; `None` if the result is not valid UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

/// The error for an unknown type.
pub(super) fn unknown_type(ontology: &Ontology, name: &str) -> ApiError {
    let names: Vec<&str> = ontology.types().map(|one| one.name.as_str()).collect();
    let name = lyceum_tools::mcp::printable(name);
    ApiError::invalid("contentType", format!("unknown type {name:?}; use one of {}", names.join(", ")))
}

fn known_type(ontology: &Ontology, name: String) -> Result<String, ApiError> {
    if ontology.get(&name).is_some() { Ok(name) } else { Err(unknown_type(ontology, &name)) }
}

pub(super) fn non_empty(name: &str, text: String) -> Result<String, ApiError> {
    let empty = || ApiError::invalid(name, format!("is empty; write {name}=… or omit it"));
    if text.is_empty() { Err(empty()) } else { Ok(text) }
}

pub(super) fn add_tags(tags: &mut Vec<String>, text: &str) -> Result<(), ApiError> {
    let before = tags.len();
    tags.extend(text.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned));
    if tags.len() == before {
        return Err(ApiError::invalid("tag", "is empty; write tag=one or tag=one,two, or omit it"));
    }
    if tags.len() > MAX_TAGS {
        return Err(ApiError::invalid("tag", format!("has too many values; use at most {MAX_TAGS}")));
    }
    Ok(())
}

pub(super) fn number(
    name: &str,
    text: &str,
    min: usize,
    max: usize,
    example: usize,
) -> Result<usize, ApiError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse().ok().filter(|number| digits && (min..=max).contains(number));
    read.ok_or_else(|| {
        let message = format!("must be an integer from {min} to {max}, such as {name}={example}");
        ApiError::invalid(name, message)
    })
}

pub(super) fn once<T>(name: &str, slot: &mut Option<T>, value: T) -> Result<(), ApiError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(ApiError::invalid(name, "is given twice; write it once")),
    }
}

pub(super) fn not_text(name: &str) -> ApiError {
    ApiError::invalid(name, "is not valid UTF-8; percent-encode it as UTF-8")
}

#[cfg(test)]
mod tests;
