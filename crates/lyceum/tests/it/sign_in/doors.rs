//! The OAuth endpoints, with valid and invalid requests.

use http::{HeaderValue, Method, header};
use serde_json::json;

use super::{CALLBACK, Stage, form_post, key, with_token};
use crate::app::{get, post};

#[tokio::test]
async fn a_client_finds_its_way_by_what_is_published() {
    let stage = Stage::start().await;
    let issuer = format!("http://{}", stage.app.addr);
    let metadata = stage.app.send(get("/.well-known/oauth-authorization-server")).await.json();
    assert_eq!(metadata["issuer"], issuer);
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(metadata["authorization_response_iss_parameter_supported"], true);
    assert_eq!(metadata["client_id_metadata_document_supported"], true);
    assert_eq!(metadata["token_endpoint"], format!("{issuer}/token"));
    assert!(metadata["scopes_supported"].as_array().unwrap().contains(&json!("offline_access")));
    let resource = stage.app.send(get("/.well-known/oauth-protected-resource")).await.json();
    assert_eq!(resource["resource"], format!("{issuer}/mcp"));
    assert_eq!(resource["authorization_servers"], json!([issuer]));
    assert!(!resource["scopes_supported"].as_array().unwrap().contains(&json!("offline_access")));
}

#[tokio::test]
async fn the_issuer_is_what_was_configured_whatever_a_request_says() {
    let stage = Stage::start().await;
    let mut request = get("/.well-known/oauth-authorization-server");
    request.headers_mut().insert("x-forwarded-host", HeaderValue::from_static("evil.com"));
    request.headers_mut().insert("forwarded", HeaderValue::from_static("host=evil.com"));
    let answer = stage.app.send(request).await;
    assert!(!answer.text().contains("evil.com"));
    let mut request = get("/.well-known/oauth-authorization-server");
    request.headers_mut().insert(header::HOST, HeaderValue::from_static("evil.com"));
    assert_eq!(stage.app.send(request).await.status, 403);
}

#[tokio::test]
async fn a_token_request_that_is_no_form_is_told_so() {
    let stage = Stage::start().await;
    assert_eq!(stage.app.send(get("/token")).await.status, 405);
    let answer = stage.app.send(post("/token", "{\"grant_type\":\"refresh_token\"}")).await;
    assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some("invalid_request")));
    let mut request = form_post("/token", "grant_type=refresh_token");
    let kinds = HeaderValue::from_static("a/b, application/x-www-form-urlencoded");
    request.headers_mut().insert(header::CONTENT_TYPE, kinds);
    assert_eq!(stage.app.send(request).await.status, 400);
    let answer = stage.token("grant_type=password&client_id=x").await;
    assert_eq!((answer.status, answer.json()["error"].as_str()), (401, Some("invalid_client")));
    assert!(answer.header("www-authenticate").starts_with("Basic"));
    let answer = stage.token(&format!("grant_type=password&client_id={}", stage.client)).await;
    assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some("unsupported_grant_type")));
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn what_can_not_be_registered_is_told_in_the_words_of_the_rfc() {
    let stage = Stage::start().await;
    let large = json!({ "redirect_uris": [CALLBACK], "client_name": "n".repeat(70_000) });
    for (said, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [CALLBACK], "grant_types": ["implicit"] }), "invalid_client_metadata"),
        (json!({ "redirect_uris": "x" }), "invalid_client_metadata"),
        (json!([]), "invalid_client_metadata"),
        (large, "invalid_client_metadata"),
    ] {
        let answer = stage.app.send(post("/register", said.to_string())).await;
        assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some(error)), "{said}");
    }
}

#[tokio::test]
async fn a_token_that_was_taken_back_opens_nothing() {
    let stage = Stage::with(|oauth| oauth.anonymous = false).await;
    let tokens = stage.sign_in(&key(1)).await;
    assert_eq!(stage.app.send(with_token(get("/tools"), &tokens.access)).await.status, 200);
    let form = format!("client_id={}&token={}", stage.client, tokens.refresh);
    assert_eq!(stage.app.send(form_post("/revoke", &form)).await.status, 200);
    assert_eq!(stage.app.send(with_token(get("/tools"), &tokens.access)).await.status, 401);
    assert_eq!(stage.refresh(&tokens.refresh).await.status, 400);
}

#[tokio::test]
async fn a_client_in_a_browser_may_ask_from_any_page_and_see_what_it_is_told() {
    let stage = Stage::start().await;
    let mut request = form_post("/token", "grant_type=x");
    request.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("https://inspector.example.org"));
    let answer = stage.app.send(request).await;
    assert_eq!(answer.header("access-control-allow-origin"), "https://inspector.example.org");
    assert!(answer.header("access-control-expose-headers").contains("WWW-Authenticate"));
    let mut preflight = get("/register");
    *preflight.method_mut() = Method::OPTIONS;
    preflight.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("https://inspector.example.org"));
    assert_eq!(stage.app.send(preflight).await.status, 204);
    // Other origins may not read the page itself.
    let mut request = form_post("/authorize", "do=deny");
    request.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("https://evil.example.org"));
    assert_eq!(stage.app.send(request).await.status, 403);
}

#[tokio::test]
async fn whoever_registers_without_end_is_told_to_wait() {
    let stage = Stage::start().await;
    let said = json!({ "redirect_uris": [CALLBACK] }).to_string();
    let mut answer = stage.app.send(post("/register", said.clone())).await;
    for _ in 0..200 {
        if answer.status != 201 {
            break;
        }
        answer = stage.app.send(post("/register", said.clone())).await;
    }
    assert_eq!(answer.status, 429, "{answer:?}");
    assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(stage.app.send(get("/tools")).await.status, 200);
}

/// The specification, 10: errors say what is wrong, and nothing about internals.
#[tokio::test]
async fn k10_a_body_that_is_wrong_is_told_by_its_field_and_not_by_our_types() {
    let stage = Stage::start().await;
    let good = json!({ "stateId": "s", "address": "a", "chainId": "x" }).to_string();
    for (path, body, message) in [
        ("/siwe/nonce", "1", "the body: must be a JSON object"),
        ("/siwe/nonce", "nonsense", "the body: not valid JSON"),
        ("/siwe/nonce", "{}", "stateId: is missing"),
        ("/siwe/nonce", good.as_str(), "chainId: must be an integer"),
        ("/siwe/verify", "[]", "the body: must be a JSON object"),
        ("/siwe/verify", "{\"message\":1}", "message: must be a string"),
    ] {
        let answer = stage.app.send(post(path, body.to_owned())).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["message"].as_str()),
            (400, Some(message)),
            "{path} {body}"
        );
    }
    let wrong = json!({ "ref": { "type": "ref/prompt", "name": 1 }, "argument": 2 });
    let answer = stage.app.send(crate::app::modern("completion/complete", &wrong)).await;
    let said = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(said.starts_with("params.") && !said.contains("struct") && !said.contains("Info"), "{said}");
}
