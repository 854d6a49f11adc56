//! Authentication of requests, and the challenges of refused ones.

use http::header;
use serde_json::json;

use super::{Stage, key, with_token};
use crate::app::{call, get, modern, post};

#[tokio::test]
async fn without_a_token_what_is_public_works_and_the_rest_says_where_to_sign_in() {
    let stage = Stage::start().await;
    let listed = stage.app.send(modern("tools/list", &json!({}))).await;
    assert_eq!(listed.status, 200);
    let refused = stage.app.send(call("get_document", &json!({ "contentType": "tag", "id": "x" }))).await;
    assert_eq!(refused.status, 401);
    let issuer = format!("http://{}", stage.app.addr);
    assert_eq!(
        refused.header("www-authenticate"),
        format!(
            "Bearer resource_metadata=\"{issuer}/.well-known/oauth-protected-resource/mcp\", scope=\"knowledge:read mcp:read\""
        )
    );
    let by_rest = stage.app.send(post("/tools/get_document/call", "{}")).await;
    assert_eq!(by_rest.status, 401, "{by_rest:?}");
    assert!(by_rest.header("www-authenticate").contains("scope=\"knowledge:read mcp:read\""));
}

#[tokio::test]
async fn where_nobody_is_anonymous_everything_asks_for_a_token() {
    let stage = Stage::with(|oauth| oauth.anonymous = false).await;
    for request in [modern("tools/list", &json!({})), get("/tools"), get("/api/v1/entries"), get("/llms.txt")]
    {
        let answer = stage.app.send(request).await;
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.header("www-authenticate").starts_with("Bearer resource_metadata="), "{answer:?}");
        assert!(!answer.header("www-authenticate").contains("error="));
        // The required scope is not known yet: a client requests those in the metadata of the resource.
        assert!(!answer.header("www-authenticate").contains("scope="), "{answer:?}");
    }
    for open in [
        "/health",
        "/livez",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        assert_eq!(stage.app.send(get(open)).await.status, 200, "{open}");
    }
    let tokens = stage.sign_in(&key(1)).await;
    assert_eq!(stage.app.send(with_token(get("/tools"), &tokens.access)).await.status, 200);
}

#[tokio::test]
async fn a_token_that_is_not_good_is_told_so_wherever_it_is_sent() {
    let stage = Stage::start().await;
    let tokens = stage.sign_in(&key(1)).await;
    let bad = [
        "Bearer nonsense".to_owned(),
        "Bearer ".to_owned(),
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.".to_owned(),
        "Basic dXNlcjpwYXNz".to_owned(),
        format!("Bearer {}", tokens.refresh),
        format!("Bearer {}x", tokens.access),
        tokens.access.clone(),
    ];
    for value in bad {
        let mut request = get("/tools");
        request.headers_mut().insert(header::AUTHORIZATION, value.parse().unwrap());
        let answer = stage.app.send(request).await;
        assert_eq!(answer.status, 401, "{value}");
        assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""), "{value}");
    }
    // A token in the query string is ignored.
    let answer = stage.app.send(get(&format!("/tools?access_token={}", tokens.access))).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.text().contains("search_with_documents"));
}

#[tokio::test]
async fn a_token_is_for_one_resource() {
    let stage = Stage::start().await;
    let tokens = stage.sign_in(&key(1)).await;
    let mut request = with_token(modern("tools/list", &json!({})), &tokens.access);
    *request.uri_mut() = "/knowledge/mcp".parse().unwrap();
    let answer = stage.app.send(request).await;
    assert_eq!(answer.status, 401);
    assert!(
        answer.header("www-authenticate").contains("/.well-known/oauth-protected-resource/knowledge/mcp")
    );
    let metadata = stage.app.send(get("/.well-known/oauth-protected-resource/knowledge/mcp")).await;
    assert_eq!(metadata.json()["resource"], format!("http://{}/knowledge/mcp", stage.app.addr));
    assert_eq!(stage.app.send(get("/.well-known/oauth-protected-resource/nothing/mcp")).await.status, 404);
}

#[tokio::test]
async fn what_is_for_those_who_signed_in_is_kept_by_no_shared_cache() {
    let open = Stage::of("public_url = \"https://mcp.example.org\"", |_| {}).await;
    let answer = open.app.send(get("/api/v1/entries?limit=1")).await;
    assert!(answer.header("cache-control").starts_with("public, max-age=300"), "{answer:?}");
    let stage = Stage::with(|oauth| oauth.anonymous = false).await;
    let tokens = stage.sign_in(&key(1)).await;
    let answer = stage.app.send(with_token(get("/api/v1/entries?limit=1"), &tokens.access)).await;
    assert_eq!(answer.header("cache-control"), "private, max-age=300");
    assert_eq!(answer.header("vary"), "Authorization");
    assert_eq!(answer.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn by_rest_a_call_that_is_refused_says_where_to_sign_in_too() {
    let stage = Stage::start().await;
    let answer = stage.app.send(post("/api/v1/sources/kb/sync", "")).await;
    assert_eq!(answer.status, 401, "{answer:?}");
    assert!(answer.header("www-authenticate").contains("scope=\"mcp:read sources:refresh\""));
}
