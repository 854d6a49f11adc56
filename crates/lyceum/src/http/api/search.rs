//! `GET /api/v1/search`: the documents that answer a question best, with the passage that does.

use axum::{extract::Request, response::Response};
use lyceum_knowledge::{DEFAULT_RESULTS, Filters, SearchOptions, SearchResponse};
use lyceum_model::ErrorCode;
use lyceum_search::{MAX_QUERY_CHARS, MAX_RESULTS, Mode};
use schemars::JsonSchema;
use serde_json::json;

use super::{
    Api,
    cached::{self, Tag},
    endpoint::{Endpoint, EndpointAccess, Form, Link, Verb, inline, named},
    openapi::SearchTypeName,
    query::{MOST_TAGS, add_tags, not_text, number, once, pairs, said},
};
use crate::http::ApiError;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/search",
    access: EndpointAccess::Readers,
    handler: |api, request| Box::pin(search(api, request)),
    id: "search",
    summary: "Search documents",
    description: "The documents that answer a question best, by their words and by what they mean, each with its best \
        passage. Words in double quotes stand side by side; a word that ends with * stands for all that begin so. \
        Filters can be combined. `degraded` says why an answer is poorer than it could be.",
    in_path: None,
    in_query: Some(inline::<SearchQuery>),
    answers: &[Form { kind: "application/json", schema: named::<SearchResponse> }],
    links: &[Link {
        name: "best",
        to: "getEntry",
        parameters: &[
            ("contentType", "$response.body#/results/0/contentType"),
            ("id", "$response.body#/results/0/id"),
        ],
    }],
    refusals: &[
        (ErrorCode::InvalidQuery, "The question is missing, empty or too long."),
        (ErrorCode::ValidationError, "A parameter is not what it should be; `details.field` names it."),
    ],
};

/// A text with at least one character to read, in a form that ECMA 262 and the tools of other languages take alike: no
/// classes of Unicode.
const SOMETHING_TO_READ: &str = r"[^\s\u0000-\u001f\u007f-\u009f]";

/// What can be asked, for the description.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described; the query is parsed value by value")]
#[schemars(rename_all = "camelCase")]
struct SearchQuery {
    /// The question.
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS), regex(pattern = SOMETHING_TO_READ))]
    q: String,
    /// Only documents of this type; a type that others extend stands for all of them. `skill` and `script` are what
    /// skills say and do.
    content_type: Option<SearchTypeName>,
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
    /// Only documents of this day or later.
    #[schemars(extend("format" = "date"))]
    since: Option<String>,
    /// Only documents of this day or earlier.
    #[schemars(extend("format" = "date"))]
    until: Option<String>,
    /// Only documents of this source.
    #[schemars(length(min = 1))]
    source: Option<String>,
    /// Only files whose path begins with this.
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// How many results are sent at most.
    #[schemars(range(min = 1, max = MAX_RESULTS), extend("default" = DEFAULT_RESULTS))]
    limit: Option<u32>,
    /// Which stages are asked.
    mode: Option<ModeName>,
    /// Whether each result says what each stage said of it.
    explain: Option<bool>,
    /// Whether to count, by type, group, tag and so on, the documents that share words with the question.
    facets: Option<bool>,
}

/// Which stages are asked.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described")]
#[schemars(rename_all = "lowercase", inline)]
enum ModeName {
    /// Words and meaning.
    Both,
    /// Words only.
    Words,
    /// Meaning only.
    Meaning,
}

/// A question, as it was asked.
#[derive(Debug, Default)]
struct Asked {
    text: String,
    filters: Filters,
    options: SearchOptions,
}

async fn search(api: Api, request: Request) -> Result<Response, ApiError> {
    let asked = parse(request.uri().query().unwrap_or_default())?;
    let found = api.base.finder.find(asked.text, &asked.filters, asked.options);
    let found = api.app.within_limit(found).await.map_err(|error| super::failed(&error))?;
    let body = serde_json::to_string(&found).unwrap_or_default();
    let is_poor = found.degraded.is_some();
    let tag = tag(&body, found.took_ms);
    let response = if tag.is_known(request.headers()) {
        cached::unchanged(tag)
    } else {
        cached::fresh(tag, "application/json", body)
    };
    // What is poor now may be good in a moment.
    Ok(if is_poor { cached::fleeting(response) } else { response })
}

/// What stands for an answer. How long it took is not what a client has, or has not.
fn tag(body: &str, took_ms: f64) -> Tag {
    let took = serde_json::to_string(&took_ms).unwrap_or_default();
    // In a text its quotes would be written otherwise, so this is the one place.
    let (before, after) = body.split_once(&format!("\"took_ms\":{took}")).unwrap_or((body, ""));
    Tag::of([before, after].concat().as_bytes())
}

/// Reads a query. Parameters that nobody here knows are left to whoever knows them.
fn parse(query: &str) -> Result<Asked, ApiError> {
    let mut asked = Asked::default();
    let (mut text, mut mode, mut explain, mut facets) = (None, None, None, None);
    let filters = &mut asked.filters;
    for (name, value) in pairs(query) {
        let value = || value.clone().ok_or_else(|| not_text(&name));
        match name.as_ref() {
            "q" => once(&name, &mut text, value()?)?,
            "contentType" => once(&name, &mut filters.content_type, said(&name, value()?)?)?,
            "group" => once(&name, &mut filters.group, said(&name, value()?)?)?,
            "release" => once(&name, &mut filters.release, said(&name, value()?)?)?,
            "status" => once(&name, &mut filters.status, said(&name, value()?)?)?,
            "since" => once(&name, &mut filters.since, said(&name, value()?)?)?,
            "until" => once(&name, &mut filters.until, said(&name, value()?)?)?,
            "source" => once(&name, &mut filters.source, said(&name, value()?)?)?,
            "path" => once(&name, &mut filters.path, said(&name, value()?)?)?,
            "tag" => add_tags(&mut filters.tags, &value()?)?,
            "limit" => {
                once(&name, &mut filters.limit, number(&name, &value()?, 1, MAX_RESULTS, DEFAULT_RESULTS)?)?;
            }
            "mode" => once(&name, &mut mode, mode_of(&value()?)?)?,
            "explain" => once(&name, &mut explain, truth(&name, &value()?)?)?,
            "facets" => once(&name, &mut facets, truth(&name, &value()?)?)?,
            _ => {}
        }
    }
    asked.text = text.ok_or_else(|| {
        let message = "q: the query is missing; write q=… with what to look for";
        let details = Some(json!({ "field": "q" }));
        ApiError { details, ..ApiError::new(ErrorCode::InvalidQuery, message) }
    })?;
    asked.options = SearchOptions {
        mode: mode.unwrap_or_default(),
        explain: explain.unwrap_or_default(),
        facets: facets.unwrap_or_default(),
    };
    Ok(asked)
}

fn mode_of(text: &str) -> Result<Mode, ApiError> {
    match text {
        "both" => Ok(Mode::Both),
        "words" => Ok(Mode::Words),
        "meaning" => Ok(Mode::Meaning),
        _ => Err(ApiError::invalid("mode", "write mode=both, mode=words or mode=meaning")),
    }
}

fn truth(name: &str, text: &str) -> Result<bool, ApiError> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(ApiError::invalid(name, format!("write {name}=true or {name}=false"))),
    }
}
