//! REQ-AUTH-*: the token of the caller.

use base64::{Engine, engine::general_purpose::URL_SAFE};
use http::header;
use lyceum_testkit::ScriptedResponse;
use serde_json::json;

use super::{ALICE, BOB, Stage, answer, ask, failure};
use crate::app::call;

#[tokio::test]
async fn req_auth_001_the_decoded_bearer_token_reads_from_github() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    answer(&app, "get_skill", json!({ "name": "pdf" })).await;
    answer(&app, "get_agent", json!({ "name": "reviewer" })).await;
    answer(&app, "get_doc", json!({ "path": ["guides"] })).await;
    let asked = stage.github.contents_requests();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|one| one.token.as_deref() == Some(ALICE)), "{asked:?}");
    // Padded too.
    stage.github.add_person(3, "dave", &["ghp_dave"], &[]);
    let padded = URL_SAFE.encode("ghp_dave");
    assert!(padded.ends_with('='));
    let mut request = call("list_skills", &json!({}));
    request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {padded}").parse().unwrap());
    assert_eq!(app.send(request).await.status, 200);
}

#[tokio::test]
async fn req_auth_002_without_a_bearer_token_it_is_401_before_any_tool() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for tool in ["list_skills", "get_skill", "no_such_tool"] {
        assert_eq!(app.send(call(tool, &json!({ "name": "pdf" }))).await.status, 401, "{tool}");
    }
    for sent in ["Basic Z2hwX2FsaWNl", "Bearer", "Bearer ", "Token abc"] {
        let mut request = call("list_skills", &json!({}));
        request.headers_mut().insert(header::AUTHORIZATION, sent.parse().unwrap());
        assert_eq!(app.send(request).await.status, 401, "{sent}");
    }
    assert_eq!(stage.github.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn req_auth_003_what_is_not_url_safe_base64_is_401() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for sent in [ALICE, "Z2hwX2Fi+w", "Z2hwX2Fi/w", "Z2hwX", "!!!", "Z2hw X2Fi"] {
        let mut request = call("list_skills", &json!({}));
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {sent}").parse().unwrap());
        assert_eq!(app.send(request).await.status, 401, "{sent}");
    }
    assert_eq!(stage.github.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn req_auth_003a_what_has_no_prefix_of_a_github_token_is_401() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for token in ["", "ghp_", "ghs_installation", "ghu_user", "glpat-abc", "secret", " ghp_abc", "ghp_a\nb"] {
        let refused = ask(&app, token, "list_skills", json!({})).await;
        assert_eq!(refused.status, 401, "{token:?}");
    }
    assert_eq!(stage.github.requests(), Vec::<String>::new());
    for token in ["ghp_dave", "github_pat_dave", "gho_dave"] {
        stage.github.add_person(7, "dave", &[token], &[]);
        assert_eq!(ask(&app, token, "list_skills", json!({})).await.status, 200, "{token}");
    }
}

#[tokio::test]
async fn req_auth_004_statuses_of_github_reach_the_caller_as_codes() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for (status, code) in [(401, "UNAUTHORIZED"), (403, "FORBIDDEN"), (404, "NOT_FOUND")] {
        stage.github.script([ScriptedResponse::Status(status, Vec::new(), "as scripted")]);
        let error = failure(&app, ALICE, "get_skill", json!({ "name": "pdf" })).await;
        assert_eq!(
            (&error["code"], &error["details"]["githubStatus"]),
            (&json!(code), &json!(status)),
            "{error}"
        );
    }
    // GitHub hides what a token may not read.
    let error = failure(&app, BOB, "get_skill", json!({ "name": "pdf" })).await;
    assert_eq!(error["code"], "NOT_FOUND", "{error}");
}
