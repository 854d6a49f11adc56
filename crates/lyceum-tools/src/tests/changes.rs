//! When the registry changes, subscribers are notified of what they asked for, and of nothing else.

use futures::{FutureExt, StreamExt, stream::BoxStream};
use lyceum_model::{Access, Tier};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::TryRecvError;

use super::{Client, SHELF, access, family, prompt, resource, spec, tool};
use crate::{
    Change, Hub, Registry, ToolSpec,
    mcp::{Message, Reply, WirePrompt},
};

/// A registry with a tool, a prompt, a resource and a template of those names.
fn registry([tool_name, prompt_name, uri, template]: [&str; 4]) -> Registry {
    let open = || Access::public(SHELF);
    let builder = Registry::builder().tool_entry(tool(spec(tool_name))).unwrap();
    let builder = builder.prompt(prompt(open(), WirePrompt::new(prompt_name, None::<&str>, None))).unwrap();
    builder
        .resource(resource(open(), uri))
        .unwrap()
        .template(family(open(), template).unwrap())
        .unwrap()
        .build()
}

const BEFORE: [&str; 4] = ["a", "b", "kb://c", "kb://d/{x}"];

#[track_caller]
fn check(before: Registry, after: Registry, wanted: &[Change]) {
    let hub = Hub::new(before);
    let mut changes = hub.changes();
    hub.publish(after);
    let announced: Vec<Change> = std::iter::from_fn(|| changes.try_recv().ok()).collect();
    assert_eq!(announced, wanted);
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn the_lists_that_differ_are_announced_and_no_others() {
    let [a, b, c, d] = BEFORE;
    check(registry(BEFORE), registry(BEFORE), &[]);
    check(registry(BEFORE), registry(["other", b, c, d]), &[Change::Tools]);
    check(registry(BEFORE), registry([a, "other", c, d]), &[Change::Prompts]);
    check(registry(BEFORE), registry([a, b, "kb://other", d]), &[Change::Resources]);
    check(registry(BEFORE), registry([a, b, c, "kb://{other}"]), &[Change::Resources]);
    let all = [Change::Tools, Change::Prompts, Change::Resources];
    check(registry(BEFORE), Registry::builder().build(), &all);
    check(Registry::builder().build(), registry(BEFORE), &all);
}

#[test]
fn a_tool_that_reads_otherwise_is_a_change() {
    let described = ToolSpec { description: "Now more.".to_owned(), ..spec("a") };
    check(super::tools([tool(spec("a"))]), super::tools([tool(described)]), &[Change::Tools]);
}

#[test]
fn a_tool_that_others_may_use_is_a_change_for_them() {
    let members = ToolSpec { access: access(Tier::Member, &["kb:read"]), ..spec("a") };
    check(super::tools([tool(spec("a"))]), super::tools([tool(members)]), &[Change::Tools]);
}

/// Subscribes; returns the acknowledgement and the stream that follows.
async fn listen(client: &Client, wanted: Value) -> (Value, BoxStream<'static, Message>) {
    let reply = client.reply("subscriptions/listen", json!({ "notifications": wanted })).await;
    let Reply::Stream(mut messages) = reply else { panic!("{reply:?}") };
    (client.read(messages.next().await.unwrap()), messages)
}

/// The notifications that are pending, each as its method and, if it has one, its URI.
fn heard(client: &Client, messages: &mut BoxStream<'static, Message>) -> Vec<String> {
    let next = || messages.next().now_or_never().flatten();
    std::iter::from_fn(next)
        .map(|message| {
            let message = client.read(message);
            let method = message["method"].as_str().unwrap_or("the end");
            let about = message["params"]["uri"].as_str().unwrap_or_default();
            format!("{} {about}", method.trim_start_matches("notifications/")).trim_end().to_owned()
        })
        .collect()
}

fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["kb://c", "kb://d/1"],
    })
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_no_more() {
    let client = Client::of(registry(BEFORE));
    let (_, mut all) = listen(&client, everything()).await;
    let (_, mut tools) = listen(&client, json!({ "toolsListChanged": true })).await;
    let (_, mut nothing) = listen(&client, json!({})).await;
    client.hub().publish(registry(["other", "other", "kb://c", "kb://d/{x}"]));
    client.hub().announce(Change::Resource("kb://d/1".to_owned()));
    client.hub().announce(Change::Resource("kb://d/2".to_owned()));
    let news = ["tools/list_changed", "prompts/list_changed", "resources/updated kb://d/1"];
    assert_eq!(heard(&client, &mut all), news);
    assert_eq!(heard(&client, &mut tools), ["tools/list_changed"]);
    assert_eq!(heard(&client, &mut nothing), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_accepted_is_said_first_and_every_notice_names_its_subscription() {
    let client = Client::of(registry(BEFORE));
    let addresses = json!(["kb://c", "kb://d/1", "kb://absent"]);
    let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": addresses });
    let (acknowledged, mut messages) = listen(&client, wanted).await;
    insta::assert_json_snapshot!(acknowledged, @r#"
    {
      "jsonrpc": "2.0",
      "method": "notifications/subscriptions/acknowledged",
      "params": {
        "_meta": {
          "io.modelcontextprotocol/subscriptionId": 1
        },
        "notifications": {
          "resourceSubscriptions": [
            "kb://c",
            "kb://d/1"
          ],
          "toolsListChanged": true
        }
      }
    }
    "#);
    client.hub().announce(Change::Resource("kb://c".to_owned()));
    insta::assert_json_snapshot!(client.read(messages.next().await.unwrap()), @r#"
    {
      "jsonrpc": "2.0",
      "method": "notifications/resources/updated",
      "params": {
        "_meta": {
          "io.modelcontextprotocol/subscriptionId": 1
        },
        "uri": "kb://c"
      }
    }
    "#);
}

#[tokio::test]
async fn what_may_not_be_read_can_not_be_listened_to() {
    let secret = resource(access(Tier::Member, &["kb:read"]), "kb://secret");
    let client = Client::of(Registry::builder().resource(secret).unwrap().build());
    let (_, mut messages) = listen(&client, json!({ "resourceSubscriptions": ["kb://secret"] })).await;
    client.hub().announce(Change::Resource("kb://secret".to_owned()));
    assert_eq!(heard(&client, &mut messages), Vec::<String>::new());
}

#[tokio::test]
async fn a_listener_that_lags_is_told_that_everything_may_have_changed() {
    let client = Client::of(registry(BEFORE));
    let (_, mut messages) = listen(&client, everything()).await;
    for number in 0..1_000 {
        client.hub().announce(Change::Resource(format!("kb://{number}")));
    }
    let mut told = heard(&client, &mut messages);
    told.sort();
    let everything = [
        "prompts/list_changed",
        "resources/list_changed",
        "resources/updated kb://c",
        "resources/updated kb://d/1",
        "tools/list_changed",
    ];
    assert_eq!(told, everything);
}

#[tokio::test]
async fn a_subscription_ends_with_a_result_when_the_server_stops() {
    let client = Client::of(registry(BEFORE));
    let (_, messages) = listen(&client, everything()).await;
    client.hub().close();
    let messages: Vec<Value> = messages.map(|message| client.read(message)).collect().await;
    insta::assert_json_snapshot!(messages, @r#"
    [
      {
        "id": 1,
        "jsonrpc": "2.0",
        "result": {
          "_meta": {
            "io.modelcontextprotocol/subscriptionId": 1
          },
          "resultType": "complete"
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn who_listens_after_the_server_was_told_to_stop_hears_the_end() {
    let client = Client::of(registry(BEFORE));
    client.hub().close();
    let (_, mut messages) = listen(&client, everything()).await;
    assert_eq!(heard(&client, &mut messages), ["the end"]);
}
