//! URLs and truncation.

use super::{EndpointError, parse, sendable};

#[test]
fn an_address_is_http_and_holds_no_password() {
    #[track_caller]
    fn check(text: &str, accepted: bool) {
        let parsed = parse(text);
        assert_eq!(parsed.is_ok(), accepted, "{text}");
        if let Err(EndpointError::Unusable(why)) = parsed {
            assert!(!why.contains("hunter2"), "{why}");
        }
    }
    check("https://api.example.com/v1", true);
    check(" http://127.0.0.1:8080 ", true);
    check("api.example.com", false);
    check("ftp://example.com", false);
    check("https://me:hunter2@example.com", false);
    check("https://hunter2@example.com", false);
}

#[test]
fn a_text_is_sent_cut_between_characters_and_never_empty() {
    assert_eq!(sendable("wörter", 2), "wö");
    assert_eq!(sendable("wörter", 6), "wörter");
    assert_eq!(sendable(" \n", 10), "-");
    assert_eq!(sendable("", 10), "-");
}

#[tokio::test]
async fn a_path_goes_below_the_address_and_its_query_stays() {
    #[track_caller]
    fn check(endpoint: &super::Endpoint, path: &str, expected: &str) {
        assert_eq!(endpoint.url(path).as_str(), expected);
    }
    let endpoint = super::Endpoint::new("http://127.0.0.1:9/v1/?version=2", None).await.unwrap();
    check(&endpoint, "rerank", "http://127.0.0.1:9/v1/rerank?version=2");
    check(&endpoint, "run/@cf/baai/bge", "http://127.0.0.1:9/v1/run/@cf/baai/bge?version=2");
    check(&endpoint, "a?b#c/d e", "http://127.0.0.1:9/v1/a%3Fb%23c/d%20e?version=2");
    assert_eq!(format!("{endpoint:?}"), "Endpoint(http://127.0.0.1:9/v1)");
}
