//! Invalid lines, and the end of input.

use serde_json::{Value, json};

use super::{Program, initialize, modern, notification, older};

/// Checks that the program still responds.
async fn check_goes_on(program: &mut Program) {
    let answer = program.ask(&modern(99, "tools/list", json!({}))).await;
    assert_eq!((&answer["id"], answer["result"].is_object()), (&json!(99), true), "{answer}");
}

async fn check(line: &str, code: i64, id: Value) {
    let mut program = Program::start();
    program.write(line).await;
    let refused = program.read().await.unwrap();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &id), "{line:.80}: {refused}");
    check_goes_on(&mut program).await;
    program.close_in_silence().await;
}

#[tokio::test]
async fn a_line_that_is_no_message_is_refused_and_the_next_is_answered() {
    check("nonsense", -32700, Value::Null).await;
    check("{", -32700, Value::Null).await;
    check(&"[".repeat(4000), -32700, Value::Null).await;
    check("[]", -32600, Value::Null).await;
    check(r#"{"jsonrpc":"1.0","id":5,"method":"tools/list"}"#, -32600, json!(5)).await;
    check(r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600, Value::Null).await;
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_is_answered() {
    let padding = "x".repeat(10_000);
    check(&modern(1, "tools/list", json!({ "padding": padding })).to_string(), -32700, Value::Null).await;
    check(&"x".repeat(3_000_000), -32700, Value::Null).await;
}

#[tokio::test]
async fn an_empty_line_is_passed_over() {
    let mut program = Program::start();
    program.write("\n  \n\t").await;
    check_goes_on(&mut program).await;
    program.close_in_silence().await;
}

#[tokio::test]
async fn the_program_ends_with_its_input() {
    Program::start().close_in_silence().await;
}

#[tokio::test]
async fn a_modern_request_before_the_end_of_input_is_answered() {
    let mut program = Program::start();
    for id in 0..20 {
        program.write(&modern(id, "tools/call", json!({ "name": "server_info" })).to_string()).await;
    }
    let (answers, status) = program.close().await;
    assert!(status.success());
    let mut ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..20).collect::<Vec<u64>>());
}

#[tokio::test]
async fn an_older_request_before_the_end_of_input_is_answered() {
    let mut program = Program::start();
    program.write(&initialize(1).to_string()).await;
    program.write(&notification("notifications/initialized", &json!({})).to_string()).await;
    program.write(&older(2, "tools/list", &json!({})).to_string()).await;
    let (answers, status) = program.close().await;
    assert!(status.success());
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2)]);
}

#[tokio::test]
async fn a_last_line_without_an_end_is_answered() {
    use tokio::io::AsyncWriteExt;
    let mut program = Program::start();
    let message = modern(1, "tools/list", json!({})).to_string();
    program.input.write_all(message.as_bytes()).await.unwrap();
    let (answers, status) = program.close().await;
    assert_eq!((answers.len(), status.success()), (1, true), "{answers:?}");
}
