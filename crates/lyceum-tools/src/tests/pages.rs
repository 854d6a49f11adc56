//! Lists are paginated, and cursors stay valid while the list changes.

use lyceum_model::Access;
use serde_json::{Value, json};

use super::{Client, SHELF, family, prompt, resource, spec, tool, tools};
use crate::{Registry, mcp::WirePrompt};

fn name(number: usize) -> String {
    format!("tool-{number:03}")
}

fn numbered(numbers: impl Iterator<Item = usize>) -> Registry {
    tools(numbers.map(|number| tool(spec(&name(number)))))
}

/// The names on a page, and the cursor of the next.
async fn page(client: &Client, cursor: Option<&Value>) -> (Vec<String>, Option<Value>) {
    let answer = client.ask("tools/list", json!({ "cursor": cursor })).await;
    let tools = answer["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    (names, answer.get("nextCursor").cloned())
}

#[tokio::test]
async fn the_pages_together_are_the_list() {
    for total in [0, 1, 99, 100, 101, 200, 250] {
        let client = Client::of(numbered(0..total));
        let (mut all, mut next) = page(&client, None).await;
        while let Some(cursor) = next {
            let (names, after) = page(&client, Some(&cursor)).await;
            assert!(!names.is_empty(), "an empty page, of {total}");
            all.extend(names);
            next = after;
        }
        assert_eq!(all, (0..total).map(name).collect::<Vec<_>>());
    }
}

/// Reads the first page, changes the list, and reads on; the second page must be `second`.
async fn check(after: impl Iterator<Item = usize>, second: impl Iterator<Item = usize>) {
    let client = Client::of(numbered(0..150));
    let (first, next) = page(&client, None).await;
    assert_eq!(first, (0..100).map(name).collect::<Vec<_>>());
    client.hub().publish(numbered(after));
    let (names, end) = page(&client, next.as_ref()).await;
    assert_eq!(names, second.map(name).collect::<Vec<_>>());
    assert_eq!(end, None);
}

#[tokio::test]
async fn none_is_lost_or_seen_twice_while_the_list_changes() {
    // Entries are removed: before the cursor, the one that the cursor names, after it.
    check((0..150).filter(|n| *n != 50), 100..150).await;
    check((0..150).filter(|n| *n != 99), 100..150).await;
    check((0..150).filter(|n| *n != 100), 101..150).await;
    check(0..50, 0..0).await;
    // Entries are added at the end.
    check(0..160, 100..160).await;
}

#[tokio::test]
async fn every_list_has_pages() {
    let open = || Access::public(SHELF);
    let mut builder = Registry::builder();
    for number in 0..101 {
        builder = builder
            .tool_entry(tool(spec(&name(number))))
            .and_then(|all| all.resource(resource(open(), &format!("kb://{number}"))))
            .and_then(|all| all.template(family(open(), &format!("kb://{number}/{{id}}"))?))
            .and_then(|all| all.prompt(prompt(open(), WirePrompt::new(name(number), None::<&str>, None))))
            .unwrap();
    }
    let client = Client::of(builder.build());
    let lists = [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ];
    for (method, list) in lists {
        let first = client.ask(method, json!({})).await;
        let second = client.ask(method, json!({ "cursor": first["nextCursor"] })).await;
        let lengths = [&first, &second].map(|page| page[list].as_array().map(Vec::len));
        assert_eq!(lengths, [Some(100), Some(1)], "{method}");
        assert_eq!(second.get("nextCursor"), None, "{method}");
    }
}

async fn check_refused(cursor: Value) {
    let client = Client::of(numbered(0..150));
    let answer = client.ask("tools/list", json!({ "cursor": cursor })).await;
    assert_eq!(answer["error"]["code"], -32602, "{cursor}: {answer}");
}

#[tokio::test]
async fn a_cursor_that_is_not_text_of_ours_is_refused() {
    check_refused(json!("not a cursor")).await;
    check_refused(json!("_w")).await;
    check_refused(json!(100)).await;
    let answer = Client::of(numbered(0..1)).ask("tools/list", json!({ "cursor": "?" })).await;
    insta::assert_json_snapshot!(answer, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "VALIDATION_ERROR",
          "field": "cursor"
        },
        "message": "cursor: invalid cursor; omit it to start at the first page"
      }
    }
    "#);
}

#[tokio::test]
async fn a_cursor_of_another_server_is_refused() {
    // {"page":2} in Base64, as other servers encode theirs.
    check_refused(json!("eyJwYWdlIjoyfQ")).await;
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let prompts = (0..150).fold(Registry::builder(), |all, number| {
        all.prompt(prompt(Access::public(SHELF), WirePrompt::new(name(number), None::<&str>, None))).unwrap()
    });
    let first = Client::of(prompts.build()).ask("prompts/list", json!({})).await;
    check_refused(first["nextCursor"].clone()).await;
}
