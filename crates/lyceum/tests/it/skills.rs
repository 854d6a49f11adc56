//! The skills service end to end: the six tools, the extension, sources, settings and usage events.

mod analytics;
mod assets;
mod bad_files;
mod cascade;
mod command;
mod doors;
mod environment;
mod finding;
mod folder;
mod listing;
mod ranking;
mod refreshing;
mod reporting;
mod repository;
mod scripts;
mod settings;
mod shelf;
mod standard;
mod status;
mod traversal;
mod watching;

use serde_json::{Value, json};

use crate::app::{TIMEOUT, TestApp, call};
use folder::Folder;

/// The tables that serve those skills.
fn tables(folder: &Folder) -> String {
    format!("[[source]]\nname = \"skills\"\npath = {:?}\n[skills]\nsource = \"skills\"\n", folder.path())
}

/// A server that watches those skills.
async fn watching(folder: &Folder) -> TestApp {
    TestApp::product_of(&tables(folder)).await
}

/// A server with those skills as they are now, with further tables.
async fn serving(folder: &Folder, further: &str) -> TestApp {
    TestApp::still_product_of(&format!("{}{further}", tables(folder))).await
}

/// The result of a tool; checks that its text equals its structured content.
async fn ask(app: &TestApp, tool: &str, arguments: Value) -> Value {
    let result = app.send(call(tool, &arguments)).await.result();
    assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"], "the text says what the structure says");
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    text
}

/// The error of a tool: its code and its text.
async fn refusal(app: &TestApp, tool: &str, arguments: Value) -> (String, String) {
    refused(&app.send(call(tool, &arguments)).await.result())
}

/// The code and the text of an error result.
fn refused(result: &Value) -> (String, String) {
    assert_eq!(result["isError"], true, "was not refused: {result}");
    let part = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{result}")).to_owned();
    (part(&result["_meta"]["lyceum/error_code"]), part(&result["content"][0]["text"]))
}

/// Checks that a tool fails with exactly that code and text.
async fn check_refused(app: &TestApp, tool: &str, arguments: Value, code: &str, text: &str) {
    let refusal = refusal(app, tool, arguments.clone()).await;
    assert_eq!(refusal, (code.to_owned(), text.to_owned()), "{tool} {arguments}");
}

/// Repeats a call until the result is as expected; on timeout, shows the last result.
async fn eventually<F>(what: &str, mut look: impl FnMut() -> F) -> Value
where
    F: Future<Output = (bool, Value)>,
{
    let mut last = Value::Null;
    let looking = async {
        loop {
            let (right, seen) = look().await;
            last = seen;
            if right {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(TIMEOUT, looking).await.is_err() {
        panic!("did not happen: {what}; the last that was seen: {last}");
    }
    last
}

/// Waits until a skill has that content.
async fn becomes(app: &TestApp, skill: &str, words: &str) {
    eventually(&format!("{skill} says {words:?}"), || async {
        let result = app.send(call("get_skill", &json!({ "skill_path": skill }))).await.result();
        let content = result["structuredContent"]["content"].as_str().unwrap_or_default();
        (content.contains(words), result)
    })
    .await;
}

/// Repeats a tool call of the program until the result is as expected.
async fn eventually_in(
    program: &mut crate::stdio::Program,
    tool: &str,
    right: impl Fn(&Value) -> bool,
) -> Value {
    let until = std::time::Instant::now() + TIMEOUT;
    loop {
        let answer = program.call(tool, json!({})).await["structuredContent"].take();
        if right(&answer) {
            return answer;
        }
        assert!(std::time::Instant::now() < until, "{tool} never answered right; the last time: {answer}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
