//! Forged session ids: rejected, without touching any file.

use std::path::Path;

use serde_json::json;
use tempfile::tempdir;

use crate::app::{Older, Settings, TestApp, fixture};

/// All files below a folder, with their contents.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn an_id_that_we_did_not_make_is_refused_and_touches_no_file() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    // The target of a path traversal, in the format of a session file.
    std::fs::write(folder.path().join("outside.json"), "kept").unwrap();
    let app = TestApp::at(&data, fixture(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let before = files(folder.path());
    let garbage = [
        "../../etc/passwd",
        "../../outside",
        "../../outside.json",
        "....//....//etc/passwd",
        "/etc/passwd",
        "..%2f..%2foutside",
        "C:\\windows\\win.ini",
        "00000000-0000-4000-8000-000000000000",
        "------------------------------------",
        "*",
        "\u{e9}\u{1f4a9}",
        "",
        &"x".repeat(10 * 1024),
        &session.id.to_uppercase(),
        &format!("{}.json", session.id),
        &format!("./{}", session.id),
    ];
    for id in garbage {
        let stranger = Older { id: id.to_owned(), version: "2025-11-25", greeting: json!({}) };
        for request in [stranger.call("add", &json!({ "a": 2, "b": 3 })), stranger.stream()] {
            let answer = app.send(request).await;
            assert!([400, 404].contains(&answer.status), "{id:?}: {answer:?}");
        }
        let answer = app.send(stranger.end()).await;
        assert!(answer.status < 500, "{id:?}: {answer:?}");
        assert_eq!(files(folder.path()), before, "{id:?}");
    }
    super::check_goes_on(&app, &session).await;
    app.stop().await;
}
