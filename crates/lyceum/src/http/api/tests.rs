//! CORS of the REST API, EETags and the OpenAPI description.

use http::Method;

use super::cached::ETag;
use crate::http::{RouteTable, cors::is_read, routes, table};

#[track_caller]
fn check(table: &RouteTable, method: &Method, path: &str, is_open: bool) {
    let cors = table.find(method, path).policy.cors;
    assert_eq!(is_read(cors, method), is_open, "{method} {path}");
}

#[tokio::test]
async fn only_reads_are_for_any_page() {
    let (app, _folder) = table::tests::product();
    let table = RouteTable::new(routes(&app), &app).unwrap();
    for path in [
        "/api/v1/entries",
        "/api/v1/entries/tag/dao",
        "/api/v1/openapi.json",
        "/llms.txt",
        "/api/v1/nothing",
        "/docs/api/v1/entries/tag/dao",
        "/docs/llms.txt",
    ] {
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            check(&table, &method, path, true);
        }
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            check(&table, &method, path, false);
        }
    }
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::POST] {
        for path in [
            "/api/v1/sources/kb/sync",
            "/docs/api/v1/sources/kb/sync",
            "/tools",
            "/mcp",
            "/",
            "/api/v2/entries",
            "/api/v1",
            "/llms.txt/x",
        ] {
            check(&table, &method, path, false);
        }
    }
}

#[test]
fn bytes_that_differ_have_other_tags() {
    let texts = ["", "\0", "\0\0\0\0\0\0\0\0", "a", "b", "12345678", "123456789", "123456780", "23456781"];
    let tags: std::collections::BTreeSet<String> =
        texts.iter().map(|text| format!("{:?}", ETag::of(text.as_bytes()))).collect();
    assert_eq!(tags.len(), texts.len(), "{tags:?}");
    assert_eq!(format!("{:?}", ETag::of(b"a")), format!("{:?}", ETag::of(b"a")));
}

/// K-8.2: openapi-spec-validator rejects `[^\s\p{C}]`, because not every regex dialect supports Unicode classes.
#[test]
fn every_pattern_of_the_description_is_one_that_all_dialects_take() {
    fn patterns<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
        if let Some(pattern) = value.get("pattern").and_then(serde_json::Value::as_str) {
            found.push(pattern);
        }
        match value {
            serde_json::Value::Array(items) => items.iter().for_each(|item| patterns(item, found)),
            serde_json::Value::Object(fields) => fields.values().for_each(|field| patterns(field, found)),
            _ => {}
        }
    }
    let (api, mut found) =
        (super::openapi(&lyceum_content::ontology::Ontology::standard().unwrap()), Vec::new());
    patterns(&api, &mut found);
    assert!(found.len() >= 3, "{found:?}");
    for pattern in found {
        let is_portable =
            !["\\p{", "\\P{", "(?<", "(?P", "\\A", "\\z"].iter().any(|part| pattern.contains(part));
        assert!(is_portable, "{pattern}");
    }
}
