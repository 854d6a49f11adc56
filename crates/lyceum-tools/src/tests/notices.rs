//! Notifications of a call: only what the client asked for, all of it before the response, and never too much.

use std::sync::{Arc, Mutex};

use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

use super::{Client, said, spec, tool, tools, working};
use crate::{LogLevel, ToolEntry, mcp::Reply};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A tool that reports progress and logs once at each of three levels, yielding in between.
fn chatty() -> ToolEntry {
    ToolEntry::new(spec("chatty"), |call, _| async move {
        call.log(LogLevel::Debug, "begins");
        call.progress(1.0, Some(2.0), Some("half".to_owned()));
        tokio::task::yield_now().await;
        call.log(LogLevel::Warning, "slow");
        call.log(LogLevel::Error, "broke");
        call.progress(2.0, None, None);
        said("done")
    })
    .unwrap()
}

/// A line for each message: the progress, the level of a log message, or the response.
async fn told(client: Client) -> Vec<String> {
    let messages = client.messages("tools/call", json!({ "name": "chatty" })).await;
    let line = |message: &Value| match message["method"].as_str() {
        Some("notifications/progress") => format!("progress {}", message["params"]["progress"]),
        Some("notifications/message") => message["params"]["level"].as_str().unwrap().to_owned(),
        Some(method) => panic!("{method}"),
        None => super::said_in(&message["result"]),
    };
    messages.iter().map(line).collect()
}

fn client() -> Client {
    Client::of(tools([chatty()]))
}

#[tokio::test]
async fn who_does_not_ask_is_told_the_answer_alone() {
    assert_eq!(told(client()).await, ["done"]);
}

#[tokio::test]
async fn who_asks_for_progress_is_told_progress() {
    assert_eq!(
        told(client().saying("progressToken", json!("p"))).await,
        ["progress 1.0", "progress 2.0", "done"]
    );
}

#[tokio::test]
async fn who_asks_for_a_level_is_told_that_and_what_matters_more() {
    assert_eq!(told(client().saying(LOG_LEVEL, json!("debug"))).await, ["debug", "warning", "error", "done"]);
    assert_eq!(told(client().saying(LOG_LEVEL, json!("warning"))).await, ["warning", "error", "done"]);
    assert_eq!(told(client().saying(LOG_LEVEL, json!("critical"))).await, ["done"]);
}

#[tokio::test]
async fn who_asks_for_both_is_told_both_in_their_order() {
    let client = client().saying("progressToken", json!(7)).saying(LOG_LEVEL, json!("info"));
    assert_eq!(told(client).await, ["progress 1.0", "warning", "error", "progress 2.0", "done"]);
}

#[tokio::test]
async fn a_notice_is_in_the_words_of_the_protocol() {
    let client = client().saying("progressToken", json!("p")).saying(LOG_LEVEL, json!("error"));
    let messages = client.messages("tools/call", json!({ "name": "chatty" })).await;
    insta::assert_json_snapshot!(messages[..2], @r#"
    [
      {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {
          "message": "half",
          "progress": 1.0,
          "progressToken": "p",
          "total": 2.0
        }
      },
      {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {
          "data": "broke",
          "level": "error",
          "logger": "lyceum"
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn only_as_much_as_can_wait_is_kept_for_a_slow_reader() {
    let flood = working(spec("flood"), |call| {
        (0..100_000).for_each(|step| call.progress(f64::from(step), None, None));
        said("done")
    });
    let client = Client::of(tools([flood])).saying("progressToken", json!("p"));
    let messages = client.messages("tools/call", json!({ "name": "flood" })).await;
    let (answer, notices) = messages.split_last().unwrap();
    assert_eq!(super::said_in(&answer["result"]), "done");
    assert!((1..=64).contains(&notices.len()), "{} notices were kept", notices.len());
}

#[tokio::test]
async fn a_call_that_says_nothing_is_answered_at_once() {
    let client = Client::of(tools([tool(spec("quiet"))])).saying("progressToken", json!("p"));
    let reply = client.reply("tools/call", json!({ "name": "quiet" })).await;
    assert!(matches!(reply, Reply::One(_)), "{reply:?}");
}

#[tokio::test]
async fn a_call_that_takes_its_time_and_reports_nothing_is_answered() {
    let slow = ToolEntry::new(spec("slow"), |_, _| async {
        tokio::task::yield_now().await;
        said("done")
    });
    let client = Client::of(tools([slow.unwrap()])).saying("progressToken", json!("p"));
    assert_eq!(client.call("slow", json!({})).await, "done");
}

#[tokio::test]
async fn nothing_comes_after_the_answer() {
    let kept = Arc::new(Mutex::new(None));
    let keep = kept.clone();
    let leaky = working(spec("leaky"), move |call| {
        call.progress(1.0, None, None);
        *keep.lock().unwrap() = Some(call.clone());
        said("done")
    });
    let client = Client::of(tools([leaky])).saying("progressToken", json!("p"));
    let Reply::Stream(mut messages) = client.reply("tools/call", json!({ "name": "leaky" })).await else {
        panic!("expected a notification before the response");
    };
    assert_eq!(client.read(messages.next().await.unwrap())["method"], "notifications/progress");
    assert_eq!(super::said_in(&client.read(messages.next().await.unwrap())["result"]), "done");
    kept.lock().unwrap().as_ref().unwrap().progress(2.0, None, None);
    let late = messages.next().now_or_never().expect("the stream has not ended");
    assert!(late.is_none(), "{late:?}");
}
