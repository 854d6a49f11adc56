//! REQ-SEC-*: paths, and where a token may be.

use std::{fs, path::Path};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use lyceum_testkit::{ScriptedResponse, TestGitHub};
use serde_json::json;

use super::{ALICE, BOB, Stage, answer, ask, failure, with_token};
use crate::app::{Older, modern, post};

#[tokio::test]
async fn req_sec_001_no_parameter_leaves_its_folder_and_nothing_is_fetched() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for bad in [
        "..",
        "../pdf",
        "pdf/../../x",
        "a..b",
        "/etc/passwd",
        "/",
        "a\\b",
        "\\",
        "..\\x",
        "%2e%2e/x",
        "",
        ".",
    ] {
        for (tool, arguments) in [
            ("get_skill", json!({ "name": bad })),
            ("get_skill_file", json!({ "skill": bad, "file": "x" })),
            ("get_skill_file", json!({ "skill": "pdf", "file": bad })),
            ("get_agent", json!({ "name": bad })),
            ("get_doc", json!({ "path": [bad] })),
            ("get_doc", json!({ "path": ["guides", bad] })),
        ] {
            let error = failure(&app, ALICE, tool, arguments).await;
            assert_eq!(error["code"], "INVALID_PATH", "{tool} {bad:?}: {error}");
            assert!(error["details"]["repo"].is_string(), "{error}");
        }
    }
    assert_eq!(stage.reads(), 0);
}

#[tokio::test]
async fn req_sec_002_a_token_is_nowhere_but_in_requests_to_github() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    // Every way to call, and every way to fail.
    answer(&app, "get_skill", json!({ "name": "pdf" })).await;
    failure(&app, BOB, "get_skill", json!({ "name": "pdf" })).await;
    stage.github.script([ScriptedResponse::Status(
        422,
        Vec::new(),
        "bad token ghp_alice_canary_7f3a in header",
    )]);
    let leaky = failure(&app, ALICE, "get_skill", json!({ "name": "bare" })).await;
    assert!(!leaky.to_string().contains("canary"), "{leaky}");
    let body = json!({ "arguments": { "name": "pdf" } }).to_string();
    assert_eq!(app.send(with_token(post("/tools/get_skill/call", body), ALICE)).await.status, 200);
    let opened = with_token(Older::initialize("2025-06-18", &json!({})), ALICE);
    let opened = app.send(opened).await;
    let session = Older {
        id: opened.header("mcp-session-id").to_owned(),
        version: "2025-06-18",
        greeting: opened.result(),
    };
    let initialized = session.message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(app.send(with_token(initialized, ALICE)).await.status, 202);
    let called = app.send(with_token(session.call("get_agent", &json!({ "name": "reviewer" })), ALICE)).await;
    assert_eq!(called.result()["isError"], json!(false), "{called:?}");
    ask(&app, "ghp_unknown_canary", "list_skills", json!({})).await;
    app.send(with_token(modern("server/discover", &json!({})), ALICE)).await;
    app.stop().await;

    let mut files = 0;
    for token in [ALICE, BOB, "ghp_unknown_canary"] {
        let encoded = URL_SAFE_NO_PAD.encode(token);
        search(stage.folder.path(), &mut |file, bytes| {
            files += 1;
            for secret in [token.as_bytes(), encoded.as_bytes()] {
                assert!(!contains(bytes, secret), "{} holds a token", file.display());
            }
        });
    }
    assert!(files > 3, "the data folder is searched");
    // Clones are made without the tokens of callers.
    assert_eq!(stage.git.passwords(), Vec::<String>::new());
}

#[tokio::test]
async fn a_token_is_never_sent_to_another_host() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let stranger = TestGitHub::start().await.unwrap();
    stage.github.redirect_contents(&stranger.url());
    let error = failure(&app, ALICE, "get_skill", json!({ "name": "pdf" })).await;
    assert_eq!(error["code"], "UPSTREAM_ERROR");
    assert_eq!(stranger.requests(), Vec::<String>::new());
}

fn search(folder: &Path, check: &mut dyn FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, check);
        } else if let Ok(bytes) = fs::read(&path) {
            check(&path, &bytes);
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
