//! Failures of GitHub, and what is tried again.

use lyceum_store::{Db, drafts, jobs};
use lyceum_testkit::ScriptedResponse;
use serde_json::{Value, json};

use super::{Stage, approved, article, eventually, with_key};
use crate::app::call;

fn status(status: u16, headers: &[(&'static str, &str)], message: &'static str) -> ScriptedResponse {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    ScriptedResponse::Status(status, headers, message)
}

async fn propose(stage: &Stage, program: &super::Program) -> Value {
    let done = approved(program, &stage.contributor, "create_draft", &article("On ferries")).await.unwrap();
    done["structuredContent"].clone()
}

fn check_one_of_each(stage: &Stage) {
    assert_eq!(stage.branches().len(), 1);
    assert_eq!(stage.github.pull_requests("acme/kb").len(), 1);
    assert_eq!(stage.approvals().len(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_looking() {
    for request in ["POST git/refs", "POST pulls"] {
        let stage = Stage::new().await;
        let program = stage.start().await;
        stage.github.fail_at(request, ScriptedResponse::Lost);
        assert_eq!(propose(&stage, &program).await["state"], "open", "{request}");
        check_one_of_each(&stage);
    }
}

#[tokio::test]
async fn a_branch_and_a_pull_request_that_exist_already_are_taken() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let first = propose(&stage, &program).await;
    drop(program);
    // The database is lost; the draft is not.
    std::fs::remove_dir_all(stage.data().join("knowledge")).unwrap();
    let program = stage.start().await;
    let second = propose(&stage, &program).await;
    assert_eq!((&second["id"], &second["url"]), (&first["id"], &first["url"]));
    check_one_of_each(&stage);
}

#[tokio::test]
async fn a_branch_of_somebody_else_is_left_alone() {
    // The id of a link depends on the repository and the URL only.
    let arguments = json!({ "url": "https://new.example.org/a", "title": "A page" });
    let stage = Stage::new().await;
    let program = stage.start().await;
    let saved = approved(&program, &stage.member, "save_link", &arguments).await.unwrap();
    let branch = format!("refs/heads/{}", saved["structuredContent"]["draft"]["branch"].as_str().unwrap());

    let stage = Stage::new().await;
    let program = stage.start().await;
    stage.git_of_server(&["update-ref", &branch, "main"]);
    let refused = approved(&program, &stage.member, "save_link", &arguments).await.unwrap();
    let draft = &refused["structuredContent"]["draft"];
    assert_eq!(draft["state"], "failed", "{refused}");
    assert!(draft["error"].as_str().unwrap().contains("not of this draft"), "{refused}");
    let at = stage.git_of_server(&["rev-parse", &branch, "main"]);
    assert_eq!(at.lines().collect::<std::collections::BTreeSet<_>>().len(), 1, "it was not moved: {at}");
    assert_eq!(stage.github.pull_requests("acme/kb"), []);
}

#[tokio::test]
async fn a_refusal_is_final_until_the_same_is_asked_again() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let left = [("x-ratelimit-remaining", "4000")];
    stage
        .github
        .fail_at("POST git/trees", status(403, &left, "Resource not accessible by personal access token"));
    let failed = propose(&stage, &program).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["error"].as_str().unwrap().contains("not accessible"), "{failed}");
    assert_eq!(stage.branches().len(), 0);
    assert_eq!(propose(&stage, &program).await["state"], "open");
    check_one_of_each(&stage);
}

#[tokio::test]
async fn a_failing_server_is_tried_again_in_the_background() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    stage.github.fail_at("POST git/trees", status(502, &[], "Bad Gateway"));
    let queued = propose(&stage, &program).await;
    assert_eq!(queued["state"], "queued", "{queued}");
    assert!(queued["error"].as_str().unwrap().contains("502"), "{queued}");
    eventually("the draft is open", || async {
        let listed =
            program.send(with_key(call("list_drafts", &json!({})), &stage.member)).await.unwrap().result();
        let state = listed["structuredContent"]["drafts"][0]["state"].clone();
        if state == "open" { Ok(()) } else { Err(listed.to_string()) }
    })
    .await;
    check_one_of_each(&stage);
}

#[tokio::test]
async fn a_rate_limit_leaves_the_draft_queued_and_says_when_to_expect_it() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    stage.github.fail_at("POST git/commits", status(403, &[("retry-after", "90")], "secondary rate limit"));
    let queued = propose(&stage, &program).await;
    assert_eq!(queued["state"], "queued", "{queued}");
    assert!(queued["error"].as_str().unwrap().contains("rate limit"), "{queued}");
    assert_eq!((stage.branches().len(), stage.approvals().len()), (0, 1));
}

#[tokio::test]
async fn a_call_that_is_repeated_meanwhile_does_not_publish_an_open_draft_again() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    stage.github.hold();
    let first = propose(&stage, &program);
    let meanwhile = async {
        eventually("the draft is being published", || async {
            if stage.github.requests().is_empty() { Err("no request yet".into()) } else { Ok(()) }
        })
        .await;
        let db = database(&stage);
        let repeat = propose(&stage, &program);
        let queued = async {
            eventually("the draft is queued again", || async {
                let rows = db.read(|tx| drafts::newest(tx, "kb", None, 1)).await.unwrap();
                if rows[0].progress.changed > rows[0].created { Ok(()) } else { Err(format!("{rows:?}")) }
            })
            .await;
            // For whoever asks GitHub again.
            stage
                .github
                .fail_at("GET pulls", status(403, &[("x-ratelimit-remaining", "9")], "Not accessible"));
            stage.github.release();
        };
        let (repeated, ()) = tokio::join!(repeat, queued);
        eventually("no job is left", || async {
            match db.read(|tx| jobs::count(tx, "drafts:kb")).await.unwrap() {
                0 => Ok(()),
                count => Err(format!("{count} jobs")),
            }
        })
        .await;
        let rows = db.read(|tx| drafts::newest(tx, "kb", None, 1)).await.unwrap();
        assert_eq!((rows[0].progress.state, &rows[0].progress.error), (drafts::State::Open, &None));
        repeated
    };
    let (first, repeated) = tokio::join!(first, meanwhile);
    assert_eq!((&first["state"], &repeated["state"]), (&json!("open"), &json!("open")));
    check_one_of_each(&stage);
}

/// The database of the knowledge base.
fn database(stage: &Stage) -> Db {
    let folder = std::fs::read_dir(stage.data().join("knowledge")).unwrap().next().unwrap().unwrap();
    Db::open(&folder.path().join("lyceum.db")).unwrap()
}
