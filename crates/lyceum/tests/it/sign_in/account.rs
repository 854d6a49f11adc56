//! The account page: grants of a user, and revoking them.

use http::Method;
use serde_json::json;

use super::{MEMBER, Stage, address, key, with_token};
use crate::app::{Request, call, get, post};

fn delete(path: &str) -> Request {
    let mut request = get(path);
    *request.method_mut() = Method::DELETE;
    request
}

fn info() -> Request {
    call("server_info", &json!({}))
}

#[tokio::test]
async fn somebody_sees_what_they_allowed_and_ends_it() {
    let stage = Stage::start().await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let (first, second) = (stage.sign_in(&key(1)).await, stage.sign_in(&key(1)).await);
    let account = stage.app.send(with_token(get("/account"), &first.access)).await;
    assert_eq!(account.header("cache-control"), "no-store");
    let account = account.json();
    assert_eq!(account["subject"], address(&key(1)));
    assert_eq!(account["tier"], "member");
    let grants = account["grants"].as_array().unwrap();
    assert_eq!(grants.len(), 2);
    assert_eq!(grants[0]["clientName"], "Test client");
    assert_eq!(grants[0]["scope"], super::EVERYTHING);
    // The newest comes first.
    let path = format!("/account/grants/{}", grants[0]["id"].as_str().unwrap());
    assert_eq!(stage.app.send(with_token(delete(&path), &first.access)).await.status, 204);
    assert_eq!(stage.app.send(with_token(info(), &second.access)).await.status, 401);
    assert_eq!(stage.refresh(&second.refresh).await.json()["error"], "invalid_grant");
    assert_eq!(stage.app.send(with_token(info(), &first.access)).await.status, 200);
    assert_eq!(stage.app.send(with_token(delete(&path), &first.access)).await.status, 404);
}

#[tokio::test]
async fn nobody_ends_what_somebody_else_allowed() {
    let stage = Stage::start().await;
    let (owner, other) = (stage.sign_in(&key(1)).await, stage.sign_in(&key(2)).await);
    let account = stage.app.send(with_token(get("/account"), &owner.access)).await.json();
    let path = format!("/account/grants/{}", account["grants"][0]["id"].as_str().unwrap());
    assert_eq!(stage.app.send(with_token(delete(&path), &other.access)).await.status, 404);
    assert_eq!(stage.app.send(with_token(info(), &owner.access)).await.status, 200);
}

#[tokio::test]
async fn a_program_sees_and_ends_only_what_it_was_allowed_itself() {
    let mut stage = Stage::start().await;
    let first = stage.sign_in(&key(1)).await;
    let account = stage.app.send(with_token(get("/account"), &first.access)).await.json();
    let path = format!("/account/grants/{}", account["grants"][0]["id"].as_str().unwrap());
    let said = json!({ "client_name": "Another", "redirect_uris": [super::CALLBACK] });
    let registered = stage.app.send(post("/register", said.to_string())).await.json();
    stage.client = registered["client_id"].as_str().unwrap().to_owned();
    let second = stage.sign_in(&key(1)).await;
    let account = stage.app.send(with_token(get("/account"), &second.access)).await.json();
    assert_eq!(account["grants"].as_array().unwrap().len(), 1);
    assert_eq!(account["grants"][0]["clientName"], "Another");
    assert_eq!(stage.app.send(with_token(delete(&path), &second.access)).await.status, 404);
    assert_eq!(stage.app.send(with_token(info(), &first.access)).await.status, 200);
}

#[tokio::test]
async fn an_account_is_nobodys_without_a_token() {
    let stage = Stage::start().await;
    for request in [get("/account"), delete("/account/grants/x")] {
        let answer = stage.app.send(request).await;
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.header("www-authenticate").starts_with("Bearer resource_metadata="));
    }
}
