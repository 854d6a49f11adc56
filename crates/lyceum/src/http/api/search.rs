//! `GET /api/v1/search`: hybrid search, with the best passage of each document.

use axum::{extract::Request, response::Response};
use lyceum_content::language::TAG_PATTERN;
use lyceum_knowledge::{DEFAULT_RESULTS, Filters, SearchOptions, SearchResponse};
use lyceum_model::ErrorCode;
use lyceum_search::{MAX_QUERY_CHARS, MAX_RESULTS, Mode};
use schemars::JsonSchema;
use serde_json::json;

use super::{
    Api,
    cached::{self, ETag},
    endpoint::{Endpoint, EndpointAccess, Link, ResponseFormat, Verb, inline, named},
    openapi::SearchTypeName,
    query::{MAX_TAGS, add_tags, non_empty, not_text, number, once, pairs},
};
use crate::http::ApiError;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/search",
    access: EndpointAccess::Summaries,
    handler: |api, request| Box::pin(search(api, request)),
    id: "search",
    summary: "Search documents",
    description: "Hybrid search (BM25 + embeddings). Each result is a document with its best passage. Double quotes match a \
        phrase; a trailing * matches a prefix. Filters can be combined. `degraded` says why results may be worse than \
        usual.",
    in_path: None,
    in_query: Some(inline::<SearchQuery>),
    responses: &[ResponseFormat { kind: "application/json", schema: named::<SearchResponse> }],
    links: &[Link {
        name: "best",
        to: "getEntry",
        parameters: &[
            ("contentType", "$response.body#/results/0/contentType"),
            ("id", "$response.body#/results/0/id"),
        ],
    }],
    refusals: &[
        (ErrorCode::InvalidQuery, "The query is missing, empty or too long."),
        (ErrorCode::ValidationError, "A parameter is invalid; `details.field` names it."),
    ],
};

/// Matches a text with at least one visible character, without Unicode classes, so that ECMA 262 and other regex engines
/// accept it.
const VISIBLE_CHARACTER_PATTERN: &str = r"[^\s\u0000-\u001f\u007f-\u009f]";

/// The query parameters, for OpenAPI.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI; the handler parses the query itself")]
#[schemars(rename_all = "camelCase")]
struct SearchQuery {
    /// The query.
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS), regex(pattern = VISIBLE_CHARACTER_PATTERN))]
    q: String,
    /// Only documents of this type, including its subtypes. `skill` and `script` are the types of skills and their
    /// scripts.
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
    /// Only documents with any of these tags; repeat the parameter or separate them by commas.
    #[schemars(length(max = MAX_TAGS), inner(length(min = 1), regex(pattern = "[^,]")))]
    tag: Option<Vec<String>>,
    /// Only documents dated on or after this day.
    #[schemars(extend("format" = "date"))]
    since: Option<String>,
    /// Only documents dated on or before this day.
    #[schemars(extend("format" = "date"))]
    until: Option<String>,
    /// Only documents of this source.
    #[schemars(length(min = 1))]
    source: Option<String>,
    /// Only files whose path starts with this.
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// Only documents in this language, such as `de` or `zh-CN`. Without it, documents in the language of the query
    /// rank above equally good ones in others.
    #[schemars(regex(pattern = TAG_PATTERN))]
    language: Option<String>,
    /// Maximum number of results.
    #[schemars(range(min = 1, max = MAX_RESULTS), extend("default" = DEFAULT_RESULTS))]
    limit: Option<u32>,
    /// The search mode.
    mode: Option<ModeName>,
    /// Whether to return the scores of each stage.
    explain: Option<bool>,
    /// Whether to count the lexical matches by type, group, tag and so on.
    facets: Option<bool>,
}

/// The search mode.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI")]
#[schemars(rename_all = "lowercase", inline)]
enum ModeName {
    /// BM25 and embeddings.
    Hybrid,
    /// BM25 only.
    Lexical,
    /// Embeddings only.
    Vector,
}

/// A parsed search request.
#[derive(Debug, Default)]
struct SearchRequest {
    text: String,
    filters: Filters,
    options: SearchOptions,
}

async fn search(api: Api, request: Request) -> Result<Response, ApiError> {
    let search_request = parse(request.uri().query().unwrap_or_default())?;
    let found = api.base.finder.find(search_request.text, &search_request.filters, search_request.options);
    let found = api.app.within_limit(found).await.map_err(|error| super::failed(&error))?;
    let body = serde_json::to_string(&found).unwrap_or_default();
    let is_degraded = found.degraded.is_some();
    let tag = tag(&body, found.took_ms);
    let response = if tag.matches(request.headers()) {
        cached::not_modified(tag)
    } else {
        cached::full(tag, "application/json", body)
    };
    // A degraded response may improve at any moment.
    Ok(if is_degraded { cached::no_cache(response) } else { response })
}

/// The ETag of a response, which ignores how long the search took.
fn tag(body: &str, took_ms: f64) -> ETag {
    let took = serde_json::to_string(&took_ms).unwrap_or_default();
    // Inside a JSON string the quotes would be escaped, so this matches only the field.
    let (before, after) = body.split_once(&format!("\"took_ms\":{took}")).unwrap_or((body, ""));
    ETag::of([before, after].concat().as_bytes())
}

/// Parses the query string; unknown parameters are ignored.
fn parse(query: &str) -> Result<SearchRequest, ApiError> {
    let mut search_request = SearchRequest::default();
    let (mut text, mut mode, mut explain, mut facets) = (None, None, None, None);
    let filters = &mut search_request.filters;
    for (name, value) in pairs(query) {
        let value = || value.clone().ok_or_else(|| not_text(&name));
        match name.as_ref() {
            "q" => once(&name, &mut text, value()?)?,
            "contentType" => once(&name, &mut filters.content_type, non_empty(&name, value()?)?)?,
            "group" => once(&name, &mut filters.group, non_empty(&name, value()?)?)?,
            "release" => once(&name, &mut filters.release, non_empty(&name, value()?)?)?,
            "status" => once(&name, &mut filters.status, non_empty(&name, value()?)?)?,
            "since" => once(&name, &mut filters.since, non_empty(&name, value()?)?)?,
            "until" => once(&name, &mut filters.until, non_empty(&name, value()?)?)?,
            "source" => once(&name, &mut filters.source, non_empty(&name, value()?)?)?,
            "path" => once(&name, &mut filters.path, non_empty(&name, value()?)?)?,
            "language" => once(&name, &mut filters.language, non_empty(&name, value()?)?)?,
            "tag" => add_tags(&mut filters.tags, &value()?)?,
            "limit" => {
                once(&name, &mut filters.limit, number(&name, &value()?, 1, MAX_RESULTS, DEFAULT_RESULTS)?)?;
            }
            "mode" => once(&name, &mut mode, mode_of(&value()?)?)?,
            "explain" => once(&name, &mut explain, boolean(&name, &value()?)?)?,
            "facets" => once(&name, &mut facets, boolean(&name, &value()?)?)?,
            _ => {}
        }
    }
    search_request.text = text.ok_or_else(|| {
        let message = "q: the query is missing; write q=…";
        let details = Some(json!({ "field": "q" }));
        ApiError { details, ..ApiError::new(ErrorCode::InvalidQuery, message) }
    })?;
    search_request.options = SearchOptions {
        mode: mode.unwrap_or_default(),
        explain: explain.unwrap_or_default(),
        facets: facets.unwrap_or_default(),
    };
    Ok(search_request)
}

fn mode_of(text: &str) -> Result<Mode, ApiError> {
    match text {
        "hybrid" => Ok(Mode::Hybrid),
        "lexical" => Ok(Mode::Lexical),
        "vector" => Ok(Mode::Vector),
        _ => Err(ApiError::invalid("mode", "must be hybrid, lexical or vector")),
    }
}

fn boolean(name: &str, text: &str) -> Result<bool, ApiError> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(ApiError::invalid(name, format!("write {name}=true or {name}=false"))),
    }
}
