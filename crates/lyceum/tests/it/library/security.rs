//! REQ-SEC-*: paths, and where a token may be.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use lyceum_testkit::{ScriptedResponse, TestGitHub};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    process::Command,
};

use super::{ALICE, BOB, Stage, answer, ask, failure, with_token};
use crate::app::{Older, TestApp, get, modern, post, within};

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

/// Everything that a collector of traces receives.
async fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let (address, received) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let kept = received.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let kept = kept.clone();
            tokio::spawn(async move {
                let mut chunk = [0; 4096];
                while let Ok(length @ 1..) = stream.read(&mut chunk).await {
                    kept.lock().unwrap().extend_from_slice(&chunk[..length]);
                    // Each batch is small: an answer after the first part of a request does no harm.
                    let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                }
            });
        }
    });
    (format!("http://{address}"), received)
}

#[tokio::test]
async fn req_sec_002_no_token_is_in_the_log_at_level_trace_or_in_exported_traces() {
    let stage = Stage::new().await;
    let (endpoint, traces) = collector().await;
    let (config, log) = (stage.folder.path().join("lyceum.toml"), stage.folder.path().join("server.log"));
    fs::write(&config, stage.tables()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(["serve", "--listen", "127.0.0.1:0", "--config"])
        .arg(&config)
        .arg("--data-dir")
        .arg(stage.folder.path().join("data"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", stage.folder.path())
        .env("LYCEUM_LOG", "trace")
        .env("LYCEUM_LOG_FORMAT", "json")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
        .stderr(fs::File::create(&log).unwrap())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let addr = within("it listens", async {
        loop {
            let text = fs::read_to_string(&log).unwrap();
            let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(line) = lines.find(|line| line["message"] == "listening") {
                break line["addr"].as_str().unwrap().parse().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let app = TestApp::elsewhere(addr);
    within("it is ready", async {
        while app.send(get("/readyz")).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    answer(&app, "get_skill", json!({ "name": "pdf" })).await;
    failure(&app, BOB, "get_skill", json!({ "name": "pdf" })).await;
    ask(&app, "ghp_unknown_canary", "list_skills", json!({})).await;
    stage.github.script([ScriptedResponse::Status(422, Vec::new(), "bad token ghp_alice_canary_7f3a")]);
    failure(&app, ALICE, "get_agent", json!({ "name": "reviewer" })).await;
    let has = |bytes: &[u8], text: &str| contains(bytes, text.as_bytes());
    within("the calls are exported", async {
        while !has(&traces.lock().unwrap(), "tools/call get_agent") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    child.kill().await.unwrap();
    let (logged, exported) = (fs::read(&log).unwrap(), traces.lock().unwrap().clone());
    assert!(has(&logged, "\"level\":\"TRACE\""), "it logs at level trace");
    for token in [ALICE, BOB, "ghp_unknown_canary"] {
        for secret in [token.to_owned(), URL_SAFE_NO_PAD.encode(token)] {
            assert!(!has(&logged, &secret), "a token is in the log");
            assert!(!has(&exported, &secret), "a token is in the traces");
        }
    }
    assert!(!has(&logged, "canary") && !has(&exported, "canary"));
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
