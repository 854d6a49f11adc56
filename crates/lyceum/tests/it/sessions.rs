//! Sessions of earlier protocol versions: opened, restored after a restart or an eviction, ended; and elicitation.

mod flood;
mod handshake;
mod lifetime;
mod limit;
mod questions;
mod strangers;
mod streams;

use serde_json::json;

use crate::app::{Older, TestApp};

/// Checks that a session still works.
async fn check_goes_on(app: &TestApp, session: &Older) {
    let answer = app.send(session.call("add", &json!({ "a": 2, "b": 3 }))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.result()["structuredContent"]["sum"], 5);
}

/// Checks that a session has ended for every kind of request.
async fn check_is_over(app: &TestApp, session: &Older) {
    for request in [session.call("add", &json!({ "a": 2, "b": 3 })), session.stream()] {
        let answer = app.send(request).await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }
}
