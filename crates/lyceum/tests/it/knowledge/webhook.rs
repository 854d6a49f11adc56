//! Webhooks at `/webhooks/github`: signed, and processed once.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderValue;
use lyceum_testkit::{Outcome, signature};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::stage::{Program, SECRET, Stage, published};
use crate::app::{Request, Response, call, modern, post};

/// How long nothing must happen to count as nothing.
const QUIET_TIME: Duration = Duration::from_millis(700);

/// A correctly signed delivery.
fn delivery(event: &str, id: &str, body: impl Into<Bytes>) -> Request {
    let body = body.into();
    let signature = signature(SECRET, &body);
    let mut request = post("/webhooks/github", body);
    set(&mut request, "x-hub-signature-256", &signature);
    set(&mut request, "x-github-event", event);
    set(&mut request, "x-github-delivery", id);
    request
}

fn set(request: &mut Request, header: &'static str, value: &str) {
    request.headers_mut().insert(header, HeaderValue::try_from(value).unwrap());
}

async fn send(program: &Program, request: Request) -> Response {
    program.send(request).await.unwrap()
}

/// Checks that the source is not fetched.
async fn check_nothing_is_fetched(stage: &Stage) {
    let (before, until) = (stage.git.requests(), Instant::now() + QUIET_TIME);
    while Instant::now() < until {
        assert_eq!(stage.git.requests(), before, "the source was asked for news");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The last payload, with a change.
async fn last_push(stage: &Stage, change: impl FnOnce(&mut Value)) -> String {
    let mut push: Value = serde_json::from_slice(&stage.last_delivery().await.body).unwrap();
    change(&mut push);
    push.to_string()
}

#[tokio::test]
async fn a_push_changes_what_is_served() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    stage.brings_in(&program).await;
    let answered = Outcome::Response(200, json!({ "status": "ok" }).to_string());
    assert_eq!(stage.last_delivery().await.outcome, answered);
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert_eq!(shelf.text("notes/second.md"), "two\n");
}

#[tokio::test]
async fn a_push_changes_what_rest_and_mcp_answer_and_is_told_to_who_listens() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let listen =
        modern("subscriptions/listen", &json!({ "notifications": { "resourcesListChanged": true } }));
    let mut news = program.open(listen).await;
    assert_eq!(news.event().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(program.document("file/second").await, Err(404));

    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let commit = stage.kb.publish().await.unwrap();
    assert_eq!(news.event().await.unwrap()["method"], "notifications/resources/list_changed");
    assert_eq!(program.document("file/second").await.unwrap()["content"], "two\n");
    let call = call("get_document", &json!({ "contentType": "file", "id": "second" }));
    let told = send(&program, call).await.result()["structuredContent"].to_string();
    assert!(told.contains("two") && told.contains(&commit), "{told}");
}

#[tokio::test]
async fn a_delivery_without_the_right_signature_is_refused_whatever_it_says() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.kb.publish().await.unwrap();
    let push = last_push(&stage, |_| ()).await;
    program.shows(&stage.kb.git(["rev-parse", "HEAD"]).unwrap()).await;
    let other = signature("another secret", push.as_bytes());
    let of_other_body = signature(SECRET, b"{}");
    let strange =
        ["", "sha256=", "sha1=757107ea", other.as_str(), of_other_body.as_str(), &of_other_body[7..]];
    for body in [push.as_str(), "not JSON", ""] {
        for sent in strange {
            let mut request = delivery("push", "a-new-id", body.to_owned());
            set(&mut request, "x-hub-signature-256", sent);
            let refused = send(&program, request).await;
            assert_eq!(
                (refused.status, &refused.json()["error"]["code"]),
                (403, &"FORBIDDEN".into()),
                "{sent}"
            );
            assert_eq!(refused.json()["error"]["message"], "Invalid signature");
        }
        let mut unsigned = delivery("push", "a-new-id", body.to_owned());
        unsigned.headers_mut().remove("x-hub-signature-256");
        assert_eq!(send(&program, unsigned).await.status, 403);
    }
    check_nothing_is_fetched(&stage).await;
    // Unauthorized requests did not use up the id.
    let accepted = send(&program, delivery("push", "a-new-id", push)).await;
    assert_eq!((accepted.status, accepted.json()), (200, json!({ "status": "ok" })));
}

#[tokio::test]
async fn what_is_no_push_of_the_branch_is_acknowledged_and_left_alone() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.kb.push_as("HEAD:refs/heads/other").await.unwrap();
    let answered = |reason: &str| {
        Outcome::Response(
            200,
            json!({ "status": "ignored", "message": format!("Ignored: {reason}") }).to_string(),
        )
    };
    assert_eq!(stage.last_delivery().await.outcome, answered("not main branch"));
    stage.kb.push_as("HEAD:refs/tags/v1").await.unwrap();
    assert_eq!(stage.last_delivery().await.outcome, answered("not main branch"));

    let another = stage.git.checkout("team/another.git").unwrap();
    another.write("notes/a.md", published("Another", "one")).unwrap();
    another.publish().await.unwrap();
    assert_eq!(stage.last_delivery().await.outcome, answered("no configured source is this repository"));

    let ping = send(&program, delivery("ping", "1", r#"{"zen":"Keep it logically awesome."}"#)).await;
    assert_eq!((ping.status, ping.json()), (200, json!({ "status": "ok", "message": "pong" })));
    let issue = send(&program, delivery("issues", "2", "{}")).await;
    assert_eq!((issue.status, &issue.json()["message"]), (200, &"Ignored: not a push".into()));
    check_nothing_is_fetched(&stage).await;
}

#[tokio::test]
async fn what_can_not_be_a_push_is_refused() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    for body in ["", "payload=%7B%7D", "[1,2", "{}", r#"{"ref":1,"repository":{}}"#, "\u{0}"] {
        let refused = send(&program, delivery("push", "1", body)).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (400, &"VALIDATION_ERROR".into()),
            "{body}"
        );
    }
    // Rejected before its body is read.
    let head = format!(
        "POST /webhooks/github HTTP/1.1\r\nHost: {}\r\nX-Hub-Signature-256: sha256={}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        program.addr,
        "0".repeat(64),
        25 * 1024 * 1024 + 1
    );
    let refused = program.raw(head.as_bytes()).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (413, &"PAYLOAD_TOO_LARGE".into()));
    // The largest body that GitHub sends is accepted.
    let mut large = last_push(&stage, |_| ()).await;
    large.extend(std::iter::repeat_n(' ', 25 * 1024 * 1024 - large.len()));
    let accepted = send(&program, delivery("push", "1", large)).await;
    assert_eq!((accepted.status, accepted.json()), (200, json!({ "status": "ok" })));
}

#[tokio::test]
async fn a_delivery_takes_effect_once() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let first = stage.brings_in(&program).await;
    let delivered = stage.last_delivery().await;
    // The sync that it started has ended.
    check_nothing_is_fetched(&stage).await;
    let before = program.source().await.unwrap();
    for _ in 0..3 {
        let again = stage.git.redeliver(&delivered.id).await.unwrap();
        assert_eq!(again, Outcome::Response(200, json!({ "duplicate": true, "status": "ok" }).to_string()));
    }
    check_nothing_is_fetched(&stage).await;
    assert_eq!(program.source().await.unwrap(), before);
    // Not even after a restart, which fetches once by itself.
    program.kill().await;
    let program = stage.start().await;
    program.shows(&first).await;
    let again = stage.git.redeliver(&delivered.id).await.unwrap();
    assert_eq!(again, Outcome::Response(200, json!({ "duplicate": true, "status": "ok" }).to_string()));
}

#[tokio::test]
async fn a_delivery_that_was_lost_can_be_made_again() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let before = program.shows_something().await;
    stage.git.lose_deliveries(1);
    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let commit = stage.kb.publish().await.unwrap();
    let lost = stage.last_delivery().await;
    assert_eq!(lost.outcome, Outcome::Lost);
    assert_eq!(program.source().await.unwrap()["commit"], before);
    assert!(stage.git.redeliver(&lost.id).await.unwrap().is_acknowledged());
    program.shows(&commit).await;
}

#[tokio::test]
async fn an_old_push_that_is_told_late_brings_in_what_is_there_now() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.brings_in(&program).await;
    let old = last_push(&stage, |_| ()).await;
    stage.kb.write("notes/first.md", published("First", "newer")).unwrap();
    stage.git.lose_deliveries(1);
    let newest = stage.kb.publish().await.unwrap();
    let late = send(&program, delivery("push", "an id of its own", old)).await;
    assert_eq!(late.json(), json!({ "status": "ok" }));
    program.shows(&newest).await;
    stage.check_equal_to_scratch(&program).await;
}

#[tokio::test]
async fn a_delivery_while_the_git_server_is_off_takes_effect_when_it_is_back() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let before = program.shows_something().await;
    stage.git.lose_deliveries(1);
    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let commit = stage.kb.publish().await.unwrap();
    stage.git.stop();
    let lost = stage.last_delivery().await;
    assert!(stage.git.redeliver(&lost.id).await.unwrap().is_acknowledged());
    program.complains("could not be reached", &before).await;
    stage.git.start_again().await.unwrap();
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
}

#[tokio::test]
async fn many_deliveries_at_once_are_all_acknowledged() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.git.lose_deliveries(1);
    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let commit = stage.kb.publish().await.unwrap();
    let push = last_push(&stage, |_| ()).await;
    let requests = stage.git.requests();
    let all = (0..50).map(|number| send(&program, delivery("push", &format!("id-{number}"), push.clone())));
    for answer in futures::future::join_all(all).await {
        assert_eq!((answer.status, answer.json()), (200, json!({ "status": "ok" })));
    }
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
    // Three requests cause one fetch; a fresh clone fetches once.
    let asked = (stage.git.requests() - requests) / 3;
    assert!(asked < 20, "{asked} questions for 50 deliveries");
}

#[tokio::test]
async fn who_knows_of_an_address_by_another_name_is_heard_too() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.git.lose_deliveries(1);
    let commit = stage.kb.publish().await.unwrap();
    let push = last_push(&stage, |push| {
        push["repository"] = json!({ "full_name": "Team/KB", "ssh_url": "git@git.example.org:Team/KB.git" });
    })
    .await;
    assert_eq!(send(&program, delivery("push", "1", push)).await.json(), json!({ "status": "ok" }));
    program.shows(&commit).await;
}

/// "503, which GitHub does not repeat": a slow sender delays nobody else.
#[tokio::test]
async fn s17_slow_senders_do_not_lock_out_a_delivery() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    stage.kb.publish().await.unwrap();
    let push = last_push(&stage, |_| ()).await;
    let head = format!(
        "POST /webhooks/github HTTP/1.1\r\nHost: {}\r\nX-Hub-Signature-256: sha256={}\r\nContent-Length: 1000000\r\n\r\n{{",
        program.addr,
        "0".repeat(64)
    );
    let mut slow = Vec::new();
    for _ in 0..20 {
        let mut connection = TcpStream::connect(&program.addr).await.unwrap();
        connection.write_all(head.as_bytes()).await.unwrap();
        slow.push(connection);
    }
    let started = Instant::now();
    let accepted = send(&program, delivery("push", "behind slow ones", push)).await;
    assert_eq!((accepted.status, accepted.json()), (200, json!({ "status": "ok" })));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
