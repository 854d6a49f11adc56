//! REQ-SKILL-* and REQ-AGENT-*.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::future::join_all;
use serde_json::json;

use super::{ALICE, BOB, PDF, REVIEWER, Stage, answer, ask, failure};
use crate::app::within;

#[tokio::test]
async fn req_skill_001_skills_are_listed_from_the_index_without_asking_github() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let listed = answer(&app, "list_skills", json!({})).await;
    let bare = json!({
        "name": "bare", "description": null, "argumentHint": null, "userInvocable": true, "files": [],
        "path": "skills/bare/SKILL.md", "url": stage.link("skills", "skills/bare/SKILL.md").1
    });
    let pdf = json!({
        "name": "pdf", "description": "Fill in forms", "argumentHint": "[file]", "userInvocable": false,
        "files": ["reference.md", "scripts/fill.py"], "path": "skills/pdf/SKILL.md",
        "url": stage.link("skills", "skills/pdf/SKILL.md").1
    });
    assert_eq!(listed, json!([bare, pdf]));
    assert_eq!(stage.reads(), 0);
    // To everyone who is let in.
    assert_eq!(ask(&app, BOB, "list_skills", json!({})).await.status, 200);
}

#[tokio::test]
async fn req_skill_002_a_skill_has_name_content_path_and_sha() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let skill = answer(&app, "get_skill", json!({ "name": "pdf" })).await;
    let sha = stage.skills.git(["hash-object", "skills/pdf/SKILL.md"]).unwrap();
    let (commit, url) = stage.link("skills", "skills/pdf/SKILL.md");
    let expected = json!({
        "name": "pdf", "content": PDF, "path": "skills/pdf/SKILL.md", "sha": sha, "commit": commit, "url": url
    });
    assert_eq!(skill, expected);
}

#[tokio::test]
async fn req_skill_003_a_skill_is_cached_and_skip_cache_reads_and_refreshes() {
    check_cache("get_skill", json!({ "name": "pdf" }), "skills/pdf/SKILL.md", "content").await;
}

#[tokio::test]
async fn req_skill_004_a_file_is_base64_with_its_size() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let file = answer(&app, "get_skill_file", json!({ "skill": "pdf", "file": "scripts/fill.py" })).await;
    assert_eq!((&file["encoding"], &file["size"]), (&json!("base64"), &json!(16)));
    assert_eq!(BASE64_STANDARD.decode(file["content"].as_str().unwrap()).unwrap(), b"print('filled')\n");
    assert_eq!(file["path"], "skills/pdf/scripts/fill.py");
    // A file of more than 1 MB is not sent in base64 by GitHub.
    let large: Vec<u8> = (0..2_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    stage.github.write("acme/skills", "skills/pdf/large.bin", &large).unwrap();
    let file = answer(&app, "get_skill_file", json!({ "skill": "pdf", "file": "large.bin" })).await;
    assert_eq!(file["size"], 2_000_000);
    assert!(BASE64_STANDARD.decode(file["content"].as_str().unwrap()).unwrap() == large);
}

#[tokio::test]
async fn req_skill_005_a_file_is_cached_and_skip_cache_reads_and_refreshes() {
    let arguments = json!({ "skill": "pdf", "file": "reference.md" });
    check_cache("get_skill_file", arguments, "skills/pdf/reference.md", "sha").await;
}

#[tokio::test]
async fn req_agent_001_agents_are_listed_from_the_index_without_asking_github() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let listed = answer(&app, "list_agents", json!({})).await;
    let plain = json!({
        "name": "plain", "description": null, "model": null, "allowedTools": null, "path": "agents/plain.md",
        "url": stage.link("skills", "agents/plain.md").1
    });
    let reviewer = json!({
        "name": "reviewer", "description": "Reviews changes", "model": "opus", "allowedTools": ["Read", "Grep"],
        "path": "agents/reviewer.md", "url": stage.link("skills", "agents/reviewer.md").1
    });
    assert_eq!(listed, json!([plain, reviewer]));
    assert_eq!(stage.reads(), 0);
}

#[tokio::test]
async fn req_agent_002_an_agent_has_name_content_path_and_sha() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let agent = answer(&app, "get_agent", json!({ "name": "reviewer" })).await;
    let sha = stage.skills.git(["hash-object", "agents/reviewer.md"]).unwrap();
    let (commit, url) = stage.link("skills", "agents/reviewer.md");
    let expected = json!({
        "name": "reviewer", "content": REVIEWER, "path": "agents/reviewer.md", "sha": sha, "commit": commit,
        "url": url
    });
    assert_eq!(agent, expected);
}

#[tokio::test]
async fn req_agent_003_an_agent_is_cached_and_skip_cache_reads_and_refreshes() {
    check_cache("get_agent", json!({ "name": "reviewer" }), "agents/reviewer.md", "content").await;
}

/// What is read twice is asked for once; `skipCache` sees the change, and so do those after it.
async fn check_cache(tool: &str, arguments: serde_json::Value, path: &str, field: &str) {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let fresh = {
        let mut arguments = arguments.clone();
        arguments["skipCache"] = json!(true);
        arguments
    };
    let first = answer(&app, tool, arguments.clone()).await[field].clone();
    stage.github.write("acme/skills", path, "changed\n").unwrap();
    assert_eq!(answer(&app, tool, arguments.clone()).await[field], first);
    assert_eq!(stage.reads(), 1);
    let changed = answer(&app, tool, fresh.clone()).await[field].clone();
    assert_ne!(changed, first);
    assert_eq!(stage.reads(), 2);
    assert_eq!(answer(&app, tool, arguments).await[field], changed);
    assert_eq!(stage.reads(), 2);
    // What did not change is not sent again, but asked for.
    assert_eq!(answer(&app, tool, fresh).await[field], changed);
    assert!(stage.github.contents_requests()[2].is_conditional);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_concurrent_cold_reads_make_one_request_to_github() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    stage.github.hold();
    let reads = join_all((0..1_000).map(|_| ask(&app, ALICE, "get_skill", json!({ "name": "pdf" }))));
    let release = within("GitHub is asked", async {
        while stage.reads() == 0 {
            tokio::task::yield_now().await;
        }
        stage.github.release();
    });
    let (answers, ()) = futures::join!(reads, release);
    for answer in answers {
        assert_eq!(answer.result()["structuredContent"]["content"], PDF);
    }
    assert_eq!(stage.reads(), 1);
    let paths = stage.github.requests();
    assert_eq!(paths.iter().filter(|path| *path == "/user").count(), 1, "the new token is checked once");
}

#[tokio::test]
async fn two_tokens_never_share_what_is_private() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    answer(&app, "get_skill", json!({ "name": "pdf" })).await;
    for _ in 0..3 {
        let error = failure(&app, BOB, "get_skill", json!({ "name": "pdf" })).await;
        assert_eq!(error["code"], "NOT_FOUND");
        assert!(!error.to_string().contains("Be careful"));
    }
    let asked: Vec<_> = stage.github.contents_requests().into_iter().map(|one| one.token.unwrap()).collect();
    assert_eq!(asked, [ALICE, BOB, BOB, BOB], "each token is checked by GitHub itself");
    assert_eq!(answer(&app, "get_skill", json!({ "name": "pdf" })).await["content"], PDF);
    assert_eq!(stage.reads(), 4);
}
