//! Sessions of earlier protocol versions with sign-in: a session id is not a proof of identity.

use http::Method;
use serde_json::json;

use super::{MEMBER, Stage, address, form_post, key, with_token};
use crate::app::{Live, Older, Request, get, modern, within};

const VERSION: &str = "2025-11-25";

/// Opens a session with a token.
pub(super) async fn open(stage: &Stage, token: &str) -> Older {
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

/// P15: the id of a session that was opened before sign-in was enough to read the responses of a member.
#[tokio::test]
async fn s15_a_session_is_its_first_subjects_alone() {
    let stage = Stage::start().await;
    let (owner, other) = (stage.sign_in(&key(1)).await, stage.sign_in(&key(2)).await);
    let session = Older::open(&stage.app, VERSION).await;
    let call = || session.call("server_info", &json!({}));
    assert_eq!(stage.app.send(call()).await.status, 200, "a stranger's until somebody signs in");
    assert_eq!(stage.app.send(with_token(call(), &owner.access)).await.status, 200);
    let requests = || every_request(&session).into_iter().chain([session.resume("0/0"), session.resume("1")]);
    for request in requests() {
        let answer = stage.app.send(request).await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    for request in requests() {
        assert_eq!(stage.app.send(with_token(request, &other.access)).await.status, 404);
    }
    assert_eq!(stage.app.send(with_token(call(), &owner.access)).await.status, 200);
}

/// The two kinds of long-lived streams.
async fn streams(stage: &Stage, token: &str) -> [Live; 2] {
    let session = open(stage, token).await;
    let listen = modern("subscriptions/listen", &json!({ "notifications": { "toolsListChanged": true } }));
    let older = stage.app.open(with_token(session.stream(), token)).await;
    let mut listening = stage.app.open(with_token(listen, token)).await;
    assert!(listening.event().await.is_some(), "it is acknowledged");
    assert_eq!((older.status, listening.status), (200, 200));
    [older, listening]
}

async fn check_end(streams: [Live; 2]) {
    for mut stream in streams {
        let ended = async { while stream.event().await.is_some() {} };
        within("the stream ends", ended).await;
    }
}

#[tokio::test]
async fn s15_streams_end_when_the_grant_is_taken_back() {
    let stage = Stage::with(|oauth| oauth.roles_good_for = jiff::SignedDuration::from_secs(1)).await;
    let tokens = stage.sign_in(&key(1)).await;
    let streams = streams(&stage, &tokens.access).await;
    let client = &stage.client;
    let revoked = form_post("/revoke", &format!("token={}&client_id={client}", tokens.refresh));
    assert_eq!(stage.app.send(revoked).await.status, 200);
    check_end(streams).await;
}

#[tokio::test]
async fn s15_streams_end_when_a_hat_is_lost() {
    let stage = Stage::with(|oauth| oauth.roles_good_for = jiff::SignedDuration::from_secs(1)).await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let tokens = stage.sign_in(&key(1)).await;
    let streams = streams(&stage, &tokens.access).await;
    stage.chain.take_off(&address(&key(1)), MEMBER);
    check_end(streams).await;
}

#[tokio::test]
async fn s15_streams_end_with_the_token() {
    let mut stage = Stage::start().await;
    let tokens = stage.sign_in(&key(1)).await;
    // An access token is valid for an hour: this one has eight seconds left, and is not cached yet.
    let folder = stage.app.folder();
    let db = lyceum_store::Db::open(&folder.path().join("auth.db")).unwrap();
    let expires = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(8);
    let changed = db.write("test", move |tx| {
        tx.execute("UPDATE tokens SET expires = $1 WHERE kind = 'access'", [expires.as_millisecond().into()])
    });
    assert_eq!(changed.await.unwrap(), 1);
    check_end(streams(&stage, &tokens.access).await).await;
    assert!(jiff::Timestamp::now() >= expires, "they ended before the token did");
}
