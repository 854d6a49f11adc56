//! Anonymous callers are throttled, so that signed-in callers are not affected.

use futures::future::join_all;
use serde_json::json;

use super::{Stage, key, with_token};
use crate::app::{call, get, modern, post};

#[tokio::test]
async fn strangers_wait_for_their_turn_and_members_do_not() {
    let limits = "[limits]\nanonymous_per_second = 1";
    let stage = Stage::of(limits, |_| {}).await.registered().await;
    let tokens = stage.sign_in(&key(1)).await;
    let strangers = join_all((0..60).map(|_| stage.app.send(get("/tools"))));
    let members = join_all((0..60).map(|_| stage.app.send(with_token(get("/tools"), &tokens.access))));
    let (strangers, members) = futures::join!(strangers, members);
    assert!(members.iter().all(|answer| answer.status == 200));
    let refused: Vec<_> = strangers.iter().filter(|answer| answer.status != 200).collect();
    assert!((1..60).contains(&refused.len()), "{} of 60 were refused", refused.len());
    for answer in refused {
        assert_eq!(answer.status, 429, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], "RATE_LIMITED", "{answer:?}");
        assert!(answer.header("retry-after").parse::<u64>().is_ok(), "{answer:?}");
    }
    // Probes always respond.
    let probes = join_all((0..60).map(|_| stage.app.send(get("/livez")))).await;
    assert!(probes.iter().all(|answer| answer.status == 200));
}

#[tokio::test]
async fn strangers_send_smaller_bodies_than_those_who_signed_in() {
    let stage = Stage::start().await;
    let tokens = stage.sign_in(&key(1)).await;
    let large = json!({ "text": "x".repeat(300_000) });
    assert_eq!(stage.app.send(call("search_knowledge", &large)).await.status, 413);
    assert_eq!(stage.app.send(post("/tools/search_knowledge/call", large.to_string())).await.status, 413);
    let known = stage.app.send(with_token(call("search_knowledge", &large), &tokens.access)).await;
    assert_ne!(known.status, 413, "{known:?}");
    assert_eq!(stage.app.send(modern("tools/list", &json!({}))).await.status, 200);
}
