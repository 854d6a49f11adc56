//! Sessions of older clients, where people sign in: a session is no proof of who somebody is.

use http::Method;
use serde_json::json;

use super::{MEMBER, Stage, address, key, with_token};
use crate::app::{Older, Request, get};

const VERSION: &str = "2025-11-25";

/// Opens a session as the holder of a token.
async fn open(stage: &Stage, token: &str) -> Older {
    let initialize = with_token(Older::initialize(VERSION, &json!({})), token);
    let answer = stage.app.send(initialize).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let id = answer.header("mcp-session-id").to_owned();
    let session = Older { id, version: VERSION, greeting: answer.result() };
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(stage.app.send(with_token(session.message(&initialized), token)).await.status, 202);
    session
}

fn every_request(session: &Older) -> [Request; 4] {
    let mut end = get("/mcp");
    *end.method_mut() = Method::DELETE;
    end.headers_mut().insert("mcp-session-id", session.id.parse().unwrap());
    [
        session.call("server_info", &json!({})),
        session.request("tools/list", &json!({})),
        session.stream(),
        end,
    ]
}

#[tokio::test]
async fn a_session_of_somebody_else_is_not_found() {
    let stage = Stage::start().await;
    let (owner, other) = (stage.sign_in(&key(1)).await, stage.sign_in(&key(2)).await);
    let session = open(&stage, &owner.access).await;
    for request in every_request(&session) {
        let answer = stage.app.send(with_token(request, &other.access)).await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    for request in every_request(&session) {
        assert_eq!(stage.app.send(request).await.status, 404);
    }
    let call = session.call("server_info", &json!({}));
    assert_eq!(stage.app.send(with_token(call, &owner.access)).await.status, 200);
}

#[tokio::test]
async fn an_id_that_was_cut_or_made_up_is_not_found() {
    let stage = Stage::start().await;
    let owner = stage.sign_in(&key(1)).await;
    let session = open(&stage, &owner.access).await;
    let bare = session.id.split('.').next().unwrap().to_owned();
    for id in [bare.clone(), format!("{bare}."), format!("{}A", session.id)] {
        let cut = Older { id, version: VERSION, greeting: json!(null) };
        let call = with_token(cut.call("server_info", &json!({})), &owner.access);
        assert_eq!(stage.app.send(call).await.status, 404);
    }
}

#[tokio::test]
async fn a_session_from_before_the_sign_in_goes_on_after_it() {
    let stage = Stage::start().await;
    let session = Older::open(&stage.app, VERSION).await;
    let wanted = || session.call("get_document", &json!({ "contentType": "pattern", "id": "none" }));
    assert_eq!(stage.app.send(wanted()).await.status, 401);
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let owner = stage.sign_in(&key(1)).await;
    assert_eq!(stage.app.send(with_token(wanted(), &owner.access)).await.status, 200);
}
