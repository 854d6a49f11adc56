//! REQ-ERR-*: the shape and codes of errors.

use lyceum_testkit::ScriptedResponse;
use serde_json::{Value, json};

use super::{ALICE, Stage, failure, with_token};
use crate::app::post;

fn scripted(status: u16, headers: &[(&'static str, &str)]) -> ScriptedResponse {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    ScriptedResponse::Status(status, headers, "")
}

#[tokio::test]
async fn req_err_001_an_error_has_code_message_and_details() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let mut error = failure(&app, ALICE, "get_skill", json!({ "name": "pfd" })).await;
    let message = error["message"].take();
    let details = json!({ "repo": "acme/skills", "path": "skills/pfd/SKILL.md", "branch": "main", "githubStatus": 404 });
    assert_eq!(error, json!({ "code": "NOT_FOUND", "message": null, "details": details }));
    let message = message.as_str().unwrap();
    assert!(message.ends_with("did you mean pdf? list_skills lists all"), "{message}");
    // Over REST it is the same, as the body.
    let body = json!({ "arguments": { "name": "pfd" } }).to_string();
    let answer = app.send(with_token(post("/tools/get_skill/call", body), ALICE)).await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["error"]["details"], details);
}

#[tokio::test]
async fn req_err_002_every_status_has_its_code() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let check = async |answer: ScriptedResponse, code: &str, status: Value| {
        stage.github.script([answer]);
        let error = failure(&app, ALICE, "get_skill", json!({ "name": "pdf", "skipCache": true })).await;
        assert_eq!((&error["code"], &error["details"]["githubStatus"]), (&json!(code), &status), "{error}");
    };
    check(scripted(401, &[]), "UNAUTHORIZED", json!(401)).await;
    check(scripted(403, &[("x-ratelimit-remaining", "12")]), "FORBIDDEN", json!(403)).await;
    check(scripted(404, &[]), "NOT_FOUND", json!(404)).await;
    for status in [400, 409, 410, 418, 422, 451] {
        check(scripted(status, &[]), "UPSTREAM_ERROR", json!(status)).await;
    }
    stage.github.script([scripted(503, &[]), scripted(503, &[])]);
    check(scripted(503, &[]), "UPSTREAM_ERROR", json!(503)).await;
    let error = failure(&app, ALICE, "get_skill", json!({ "name": "../x" })).await;
    assert_eq!((&error["code"], &error["details"]["githubStatus"]), (&json!("INVALID_PATH"), &Value::Null));
}

#[tokio::test]
async fn a_rate_limit_is_not_a_lack_of_permission_and_says_when_to_retry() {
    for answer in [scripted(403, &[("retry-after", "120")]), scripted(429, &[])] {
        let stage = Stage::new().await;
        let app = stage.start().await;
        stage.github.script([answer]);
        let error = failure(&app, ALICE, "get_skill", json!({ "name": "pdf" })).await;
        assert_eq!(error["code"], "UPSTREAM_ERROR", "{error}");
        assert!(error["details"]["retryAfter"].as_u64().unwrap() >= 59, "{error}");
        failure(&app, ALICE, "get_agent", json!({ "name": "reviewer" })).await;
        assert_eq!(stage.reads(), 1, "nothing is sent while the limit lasts");
    }
}

#[tokio::test]
async fn what_is_not_a_file_is_not_found_and_told_apart() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    stage.github.link("acme/skills", "skills/pdf/link.md", "skills/pdf/reference.md");
    stage.github.link("acme/skills", "skills/pdf/out.md", "../../../etc/passwd");
    stage.github.add_submodule("acme/skills", "skills/pdf/vendor", "https://github.com/acme/other.git");
    let get = async |file: &str| {
        failure(&app, ALICE, "get_skill_file", json!({ "skill": "pdf", "file": file })).await
    };
    for (file, expected) in
        [("scripts", "a folder"), ("out.md", "a symbolic link"), ("vendor", "a submodule")]
    {
        let error = get(file).await;
        assert_eq!(error["code"], "NOT_FOUND", "{error}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{error}");
    }
    let link = super::answer(&app, "get_skill_file", json!({ "skill": "pdf", "file": "link.md" })).await;
    assert_eq!(link["size"], 12);
}

#[tokio::test]
async fn a_renamed_repository_is_still_read() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    stage.github.rename_repository("acme/skills", "acme/team-skills");
    super::answer(&app, "get_skill", json!({ "name": "pdf" })).await;
}
