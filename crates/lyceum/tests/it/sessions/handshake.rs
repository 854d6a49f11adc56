//! `initialize`: version negotiation.

use serde_json::json;

use crate::app::{MODERN, Older, TestApp};

async fn check(asked: &'static str, answered: &str) {
    let app = TestApp::start().await;
    let greeting = app.send(Older::initialize(asked, &json!({}))).await.result();
    assert_eq!(greeting["protocolVersion"], answered, "{asked}");
    assert_eq!(greeting["serverInfo"]["name"], "lyceum");
    app.stop().await;
}

#[tokio::test]
async fn a_version_that_is_spoken_is_answered_with_itself() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        check(version, version).await;
    }
}

#[tokio::test]
async fn a_version_that_is_not_spoken_is_answered_with_the_newest_that_has_a_handshake() {
    for version in ["2024-11-05", "1999-01-01", "2099-01-01", MODERN] {
        check(version, "2025-11-25").await;
    }
}

#[tokio::test]
async fn a_session_works_in_each_version() {
    let app = TestApp::start().await;
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let session = Older::open(&app, version).await;
        assert_eq!(session.greeting["protocolVersion"], version);
        super::check_goes_on(&app, &session).await;
        let pong = app.send(session.request("ping", &json!({}))).await.result();
        assert_eq!(pong, json!({}), "{version}");
        let tools = app.send(session.request("tools/list", &json!({}))).await.result();
        assert!(tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "add"));
    }
    app.stop().await;
}

#[tokio::test]
async fn the_greeting_says_what_the_server_can_do() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    insta::assert_json_snapshot!(session.greeting, { ".serverInfo.version" => "[version]" }, @r#"
    {
      "capabilities": {
        "completions": {},
        "logging": {},
        "prompts": {
          "listChanged": true
        },
        "resources": {
          "listChanged": true,
          "subscribe": true
        },
        "tools": {
          "listChanged": true
        }
      },
      "instructions": "Knowledge kept in Git repositories. Call server_info for the services, the sources and their last sync.",
      "protocolVersion": "2025-11-25",
      "serverInfo": {
        "name": "lyceum",
        "version": "[version]"
      }
    }
    "#);
    app.stop().await;
}
