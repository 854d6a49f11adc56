//! The query of a list: parsed at the door, with every value checked.

use std::borrow::Cow;

use lyceum_content::{knowledge::Filter, ontology::Ontology};
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;

use super::openapi::ContentTypeName;
use crate::http::ApiError;

/// How many entries are sent where nothing else is asked for.
const USUAL: usize = 20;

/// How many are sent at most.
const MOST: usize = 100;

/// The farthest place to begin at: beyond it numbers are no longer exact in every client.
const FARTHEST: usize = 9_007_199_254_740_991;

/// How many tags can be asked for together.
pub(super) const MOST_TAGS: usize = 50;

/// What can be asked for, for the description.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described; the query is parsed value by value")]
#[schemars(rename_all = "camelCase")]
pub(super) struct ListQuery {
    /// Only documents of this type; a type that others extend stands for all of them.
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
    /// Only documents with any of these tags: repeat it, or put commas between them.
    #[schemars(length(max = MOST_TAGS), inner(length(min = 1), regex(pattern = "[^,]")))]
    tag: Option<Vec<String>>,
    /// How many entries are sent at most.
    #[schemars(range(min = 1, max = MOST), extend("default" = USUAL))]
    limit: Option<u32>,
    /// How many entries are left out before the first that is sent.
    #[schemars(range(max = FARTHEST), extend("default" = 0))]
    offset: Option<u64>,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) filter: Filter,
    pub(super) limit: usize,
    pub(super) offset: usize,
}

impl Asked {
    /// Reads a query. Parameters that nobody here knows are left to whoever knows them.
    pub(super) fn parse(query: &str, ontology: &Ontology) -> Result<Self, ApiError> {
        let mut filter = Filter::default();
        let (mut limit, mut offset) = (None, None);
        for (name, value) in pairs(query) {
            let text = || value.clone().ok_or_else(|| not_text(&name));
            match name.as_ref() {
                "contentType" => once(&name, &mut filter.content_type, known_type(ontology, text()?)?)?,
                "group" => once(&name, &mut filter.group, said(&name, text()?)?)?,
                "release" => once(&name, &mut filter.release, said(&name, text()?)?)?,
                "status" => once(&name, &mut filter.status, said(&name, text()?)?)?,
                "tag" => add_tags(&mut filter.tags, &text()?)?,
                "limit" => once(&name, &mut limit, number(&name, &text()?, 1, MOST, USUAL)?)?,
                "offset" => once(&name, &mut offset, number(&name, &text()?, 0, FARTHEST, 0)?)?,
                _ => {}
            }
        }
        Ok(Self { filter, limit: limit.unwrap_or(USUAL), offset: offset.unwrap_or(0) })
    }
}

/// The parameters of a query; the value is nothing where it is no text.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Option<String>)> {
    query.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decoded(name)?, decoded(value).map(Cow::into_owned)))
    })
}

/// A part of a query as it was meant; nothing if that is no text.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return unescaped(&spaced).map(|text| Cow::Owned(text.into_owned()));
    }
    unescaped(text)
}

/// A part of a path as it was meant; nothing if that is no text.
pub(super) fn unescaped(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

/// That a type is not one of those there are.
pub(super) fn unknown_type(ontology: &Ontology, name: &str) -> ApiError {
    let names: Vec<&str> = ontology.types().map(|one| one.name.as_str()).collect();
    let name = lyceum_tools::mcp::printable(name);
    ApiError::invalid("contentType", format!("there is no type {name:?}; write one of {}", names.join(", ")))
}

fn known_type(ontology: &Ontology, name: String) -> Result<String, ApiError> {
    if ontology.get(&name).is_some() { Ok(name) } else { Err(unknown_type(ontology, &name)) }
}

pub(super) fn said(name: &str, text: String) -> Result<String, ApiError> {
    let empty = || ApiError::invalid(name, format!("it is empty; write {name}=… or leave it out"));
    if text.is_empty() { Err(empty()) } else { Ok(text) }
}

pub(super) fn add_tags(tags: &mut Vec<String>, text: &str) -> Result<(), ApiError> {
    let before = tags.len();
    tags.extend(text.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned));
    if tags.len() == before {
        return Err(ApiError::invalid("tag", "it is empty; write tag=one, tag=one,two or leave it out"));
    }
    if tags.len() > MOST_TAGS {
        return Err(ApiError::invalid("tag", format!("there are too many; write at most {MOST_TAGS}")));
    }
    Ok(())
}

pub(super) fn number(
    name: &str,
    text: &str,
    least: usize,
    most: usize,
    example: usize,
) -> Result<usize, ApiError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse().ok().filter(|number| digits && (least..=most).contains(number));
    read.ok_or_else(|| {
        let message = format!("write a whole number from {least} to {most}, such as {name}={example}");
        ApiError::invalid(name, message)
    })
}

pub(super) fn once<T>(name: &str, place: &mut Option<T>, value: T) -> Result<(), ApiError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(ApiError::invalid(name, "it is written twice; write it once")),
    }
}

pub(super) fn not_text(name: &str) -> ApiError {
    ApiError::invalid(name, "it is not text; write it in UTF-8, with % before each byte that needs it")
}

#[cfg(test)]
mod tests;
