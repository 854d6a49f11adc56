//! All protocol versions on one pipe.

use serde_json::json;

use super::{Program, initialize, modern, notification, older};

#[tokio::test]
async fn a_modern_request_is_answered_without_a_handshake() {
    let mut program = Program::start();
    let answer = program.ask(&modern(7, "tools/call", json!({ "name": "server_info" }))).await;
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["result"]["structuredContent"]["name"], "lyceum");
    let listed = program.ask(&modern(8, "tools/list", json!({}))).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "server_info");
    program.close_in_silence().await;
}

#[tokio::test]
async fn an_older_client_shakes_hands_first() {
    let mut program = Program::start();
    let greeting = program.ask(&initialize(1)).await;
    assert_eq!(greeting["result"]["protocolVersion"], "2025-11-25");
    program.write(&notification("notifications/initialized", &json!({})).to_string()).await;
    let listed = program.ask(&older(2, "tools/list", &json!({}))).await;
    assert_eq!((&listed["id"], &listed["result"]["tools"][0]["name"]), (&json!(2), &json!("server_info")));
    let called = program.ask(&older(3, "tools/call", &json!({ "name": "server_info" }))).await;
    assert_eq!(called["result"]["structuredContent"]["name"], "lyceum");
    program.close_in_silence().await;
}

#[tokio::test]
async fn both_eras_share_the_pipe() {
    let mut program = Program::start();
    program.ask(&initialize(1)).await;
    program.write(&notification("notifications/initialized", &json!({})).to_string()).await;
    let called = program.ask(&modern(2, "tools/call", json!({ "name": "server_info" }))).await;
    assert_eq!(called["result"]["resultType"], "complete");
    assert_eq!(program.ask(&older(3, "ping", &json!({}))).await["result"], json!({}));
    program.close_in_silence().await;
}

#[tokio::test]
async fn a_client_that_asks_what_there_is_falls_back_to_the_handshake() {
    let mut program = Program::start();
    let probe = program.ask(&older(1, "server/discover", &json!({}))).await;
    assert_eq!(probe["error"]["code"], -32602, "{probe}");
    let greeting = program.ask(&initialize(2)).await;
    assert_eq!(greeting["result"]["serverInfo"]["name"], "lyceum");
    program.close_in_silence().await;
}

#[tokio::test]
async fn a_request_before_the_handshake_is_refused_and_the_handshake_still_works() {
    let mut program = Program::start();
    let refused = program.ask(&older(1, "tools/list", &json!({}))).await;
    assert_eq!((&refused["id"], refused["error"]["code"].is_i64()), (&json!(1), true), "{refused}");
    let greeting = program.ask(&initialize(2)).await;
    assert_eq!(greeting["result"]["serverInfo"]["name"], "lyceum");
    program.close_in_silence().await;
}

#[tokio::test]
async fn a_notification_before_the_handshake_does_not_stand_in_its_way() {
    let mut program = Program::start();
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    program.write(&cancelled.to_string()).await;
    program.write(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }).to_string()).await;
    let greeting = program.ask(&initialize(1)).await;
    assert_eq!(greeting["result"]["serverInfo"]["name"], "lyceum");
    program.close_in_silence().await;
}

#[tokio::test]
async fn the_program_ends_when_it_is_told_to_although_its_input_is_open() {
    let mut program = Program::start();
    program.ask(&initialize(1)).await;
    let id = program.child.id().unwrap().to_string();
    let told = tokio::process::Command::new("kill").args(["-TERM", &id]).status().await.unwrap();
    assert!(told.success());
    let ended = crate::app::within("the program ends", program.child.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
}
