//! Parsing of `Accept` headers.

use http::{HeaderMap, HeaderValue, header::ACCEPT};

use super::{
    DocumentFormat::{self, Json, Markdown, Plain},
    negotiate,
};

#[track_caller]
fn check(accept: &str, expected: DocumentFormat) {
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]);
    assert_eq!(negotiate(&headers), expected, "{accept:?}");
}

#[test]
fn json_is_sent_where_nothing_else_is_asked_for() {
    assert_eq!(negotiate(&HeaderMap::new()), Json);
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for accept in
        ["", "*/*", "application/json", "application/*", "image/png", browser, ",,;q=", "text/markdown;q=0"]
    {
        check(accept, Json);
    }
}

#[test]
fn markdown_is_sent_to_who_asks_for_it() {
    let assistant = "text/markdown, text/html, */*";
    for accept in ["text/markdown", "Text/MarkDown", "text/*", "text/markdown;variant=GFM", assistant] {
        check(accept, Markdown);
    }
    check("text/plain, text/markdown", Markdown);
    check("text/plain", Plain);
    check("text/plain, */*;q=0.1", Plain);
}

#[test]
fn the_quality_decides() {
    check("text/markdown;q=0.5, application/json", Json);
    check("text/markdown, application/json;q=0.5", Markdown);
    check("application/json;q=0.1,text/plain;q=0.3,text/markdown;q=0.2", Plain);
    check("text/*;q=0.5, application/json;q=0.4", Markdown);
    check("text/*, text/markdown;q=0", Plain);
    check("*/*, application/json;q=0", Markdown);
    check("application/json, text/markdown", Json);
}

#[test]
fn several_headers_are_one() {
    let mut headers = HeaderMap::new();
    headers.append(ACCEPT, HeaderValue::from_static("application/json;q=0.2"));
    headers.append(ACCEPT, HeaderValue::from_static("text/markdown"));
    assert_eq!(negotiate(&headers), Markdown);
}
