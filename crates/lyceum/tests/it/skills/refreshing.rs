//! `refresh_skills`: of a folder, of a repository, one at a time, and failures.

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Folder, ask, becomes, eventually, folder::skill, repository::Repository, serving};
use crate::app::{TestApp, get, within};

fn tables_of(url: &str) -> String {
    format!("[[source]]\nname = \"skills\"\nurl = {url:?}\n[skills]\nsource = \"skills\"\n")
}

/// The result without its time, which must have the form `2026-02-18T14:30:00.000Z`.
fn without_time(mut answer: Value) -> Value {
    let time = answer["last_sync"].take();
    let time = time.as_str().unwrap_or_else(|| panic!("no time: {answer}"));
    let form: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "0000-00-00T00:00:00.000Z");
    answer["last_sync"] = json!("[time]");
    answer
}

#[tokio::test]
async fn a_folder_is_read_again() {
    let folder = Folder::of(&[("one.md", &skill("one", "1"))]);
    let app = serving(&folder, "").await;
    let local = |skills: u32| {
        json!({
            "success": true,
            "mode": "local",
            "skills_reindexed": skills,
            "message": "Reindexed from local directory (no git sync configured).",
        })
    };
    assert_eq!(ask(&app, "refresh_skills", json!({})).await, local(1));
    folder.write("two.md", skill("two", "2"));
    assert_eq!(ask(&app, "get_skill", json!({ "context": "two" })).await["no_match"], true);
    assert_eq!(ask(&app, "refresh_skills", json!({})).await, local(2));
    assert_eq!(ask(&app, "get_skill", json!({ "context": "two" })).await["skill_path"], "two");
    folder.remove("one.md");
    assert_eq!(ask(&app, "refresh_skills", json!({})).await, local(1));
    app.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_files_is_told() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let findings = json!([{
        "file": "broken.md",
        "severity": "skipped",
        "message": "keywords: is not a list of at least one word",
    }]);
    assert_eq!(ask(&app, "refresh_skills", json!({})).await["findings"], findings);
    app.stop().await;
}

#[tokio::test]
async fn a_folder_that_is_gone_is_told_and_what_was_read_is_served_on() {
    let folder = Folder::of(&[("one.md", &skill("one", "1"))]);
    let app = serving(&folder, "").await;
    folder.rename("", "../away");
    let answer = without_time(ask(&app, "refresh_skills", json!({})).await);
    let expected = json!({
        "success": false,
        "skills_reindexed": 1,
        "last_sync": "[time]",
        "message": "Refresh failed; still serving the previous version: no such folder; check its path",
    });
    assert_eq!(answer, expected);
    assert_eq!(ask(&app, "get_skill", json!({ "context": "one" })).await["skill_path"], "one");
    std::fs::rename(folder.beside("away"), folder.path()).unwrap();
    assert_eq!(ask(&app, "refresh_skills", json!({})).await["success"], true);
    app.stop().await;
}

#[tokio::test]
async fn a_repository_is_fetched() {
    let repository = Repository::of(&[
        ("README.md", "# Skills\n"),
        ("skills/one.md", &skill("one", "1")),
        ("skills/two.md", &skill("two", "2")),
    ]);
    let app = TestApp::still_product_of(&tables_of(&repository.url())).await;
    let first = without_time(ask(&app, "refresh_skills", json!({})).await);
    let commit = first["commit_hash"].as_str().unwrap().to_owned();
    assert_eq!((commit.len(), first["files_changed"].clone()), (40, json!(3)));
    let git = |commit: &str, changed: u32, skills: u32| {
        json!({
            "success": true,
            "commit_hash": commit,
            "files_changed": changed,
            "skills_reindexed": skills,
            "last_sync": "[time]",
        })
    };
    let nothing_new = without_time(ask(&app, "refresh_skills", json!({})).await);
    assert_eq!(nothing_new, git(&commit, 0, 2));
    let commit = repository
        .commit(&[("skills/two.md", &skill("two", "2 and more")), ("skills/three.md", &skill("three", "3"))]);
    assert_eq!(without_time(ask(&app, "refresh_skills", json!({})).await), git(&commit, 2, 3));
    let content = ask(&app, "get_skill", json!({ "context": "two" })).await["content"].clone();
    assert!(content.as_str().unwrap().ends_with("2 and more"), "{content}");
    app.stop().await;
}

#[tokio::test]
async fn a_repository_is_fetched_when_the_server_starts() {
    let repository = Repository::of(&[("skills/one.md", &skill("one", "The first."))]);
    let app = TestApp::product_of(&tables_of(&repository.url())).await;
    // The first call waits for the clone.
    let answer = ask(&app, "get_skill", json!({ "context": "one" })).await;
    assert_eq!(answer["skill_path"], "one");
    app.stop().await;
}

#[tokio::test]
async fn a_repository_that_is_gone_is_told_and_what_was_fetched_is_served_on() {
    let repository = Repository::of(&[("skills/one.md", &skill("one", "1"))]);
    let app = TestApp::still_product_of(&tables_of(&repository.url())).await;
    let commit = ask(&app, "refresh_skills", json!({})).await["commit_hash"].clone();
    repository.goes_away();
    let failed = without_time(ask(&app, "refresh_skills", json!({})).await);
    assert_eq!((&failed["success"], &failed["commit_hash"]), (&json!(false), &commit), "{failed}");
    assert_eq!((&failed["skills_reindexed"], failed.get("files_changed")), (&json!(1), None), "{failed}");
    let message = failed["message"].as_str().unwrap();
    assert!(message.starts_with("Refresh failed; still serving the previous version: "), "{message}");
    assert_eq!(ask(&app, "get_skill", json!({ "context": "one" })).await["skill_path"], "one");
    repository.comes_back();
    assert_eq!(ask(&app, "refresh_skills", json!({})).await["success"], true);
    app.stop().await;
}

#[tokio::test]
async fn a_repository_that_was_never_there_is_told() {
    let app = TestApp::still_product_of(&tables_of("file:///nowhere/at-all.git")).await;
    let failed = ask(&app, "refresh_skills", json!({})).await;
    assert_eq!(failed["success"], false);
    let message = failed["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Refresh failed: "), "{message}");
    assert_eq!(failed.as_object().unwrap().len(), 2, "{failed}");
    let (code, text) = super::refusal(&app, "get_skill", json!({ "context": "one" })).await;
    let reason = message.trim_start_matches("Refresh failed: ");
    assert_eq!((code.as_str(), text), ("UNAVAILABLE", format!("cannot read the skills: {reason}")));
    app.stop().await;
}

#[tokio::test]
async fn a_server_starts_from_its_copy_while_the_repository_is_away() {
    let repository = Repository::of(&[("skills/one.md", &skill("one", "1"))]);
    let (data, tables) = (tempfile::tempdir().unwrap(), tables_of(&repository.url()));
    let app = TestApp::product_at(data.path(), &tables).await;
    becomes(&app, "one", "1").await;
    app.stop().await;
    repository.goes_away();
    let app = TestApp::product_at(data.path(), &tables).await;
    assert_eq!(ask(&app, "get_skill", json!({ "context": "one" })).await["skill_path"], "one");
    let health = eventually("the failure is told", || async {
        let health = app.send(get("/health")).await.json();
        (health["sources"][0]["state"] == "failed", health)
    })
    .await;
    assert_eq!(health["status"], "degraded");
    let source = &health["sources"][0];
    assert!(
        source["commit"].is_string() && source["synced_at"].is_string() && source["error"].is_string(),
        "{source}"
    );
    assert_eq!(app.send(get("/readyz")).await.status, 200, "what is here is served");
    app.stop().await;
}

#[tokio::test]
async fn while_one_refresh_is_under_way_another_is_not_begun() {
    // A server that accepts the connection of the first clone, and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/skills.git", silent.local_addr().unwrap());
    let app = TestApp::product_of(&tables_of(&url)).await;
    let held = within("git connects", silent.accept()).await.unwrap();
    let busy = json!({ "success": false, "message": "Another refresh is in progress." });
    for _ in 0..3 {
        assert_eq!(ask(&app, "refresh_skills", json!({})).await, busy);
    }
    let ready = app.send(get("/readyz")).await;
    let fetching = json!({ "ready": false, "reasons": ["the skills are being fetched"] });
    assert_eq!((ready.status, ready.json()), (503, fetching));
    drop(held);
    app.stop().await;
}

#[tokio::test]
async fn callers_that_refresh_at_once_get_an_answer_each() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let answers = futures::future::join_all((0..20).map(|_| ask(&app, "refresh_skills", json!({})))).await;
    assert!(answers.iter().any(|answer| answer["success"] == true), "{answers:?}");
    for answer in answers {
        let done = answer["mode"] == "local" && answer["skills_reindexed"] == 6;
        assert!(done || answer["message"] == "Another refresh is in progress.", "{answer}");
    }
    app.stop().await;
}

#[tokio::test]
async fn nobody_ever_sees_half_a_commit() {
    let version = |number: u32| {
        let root = format!("---\nkeywords: [root]\ndescription: Root\n---\n\nroot {number}\n");
        (root, skill("leaf", &format!("leaf {number}")))
    };
    let (root, leaf) = version(0);
    let repository = Repository::of(&[("skills/_root.md", &root), ("skills/leaf.md", &leaf)]);
    let app = TestApp::still_product_of(&tables_of(&repository.url())).await;
    ask(&app, "refresh_skills", json!({})).await;
    let writing = async {
        for number in 1..=5 {
            let (root, leaf) = version(number);
            repository.commit(&[("skills/_root.md", &root), ("skills/leaf.md", &leaf)]);
            assert_eq!(ask(&app, "refresh_skills", json!({})).await["files_changed"], 2);
        }
    };
    let reading = async {
        loop {
            let content = ask(&app, "get_skill", json!({ "context": "leaf" })).await["content"].clone();
            let says =
                |word: &str| content.as_str().unwrap().lines().find_map(|line| line.strip_prefix(word));
            let numbers = [says("root "), says("leaf ")];
            assert!(numbers[0].is_some() && numbers[0] == numbers[1], "{content}");
        }
    };
    tokio::select! {
        () = writing => {}
        never = reading => never,
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_and_refreshes_do_not_hold_each_other_up() {
    let folder = Folder::of(&[("one.md", &skill("one", "0"))]);
    let app = serving(&folder, "").await;
    let writing = async {
        for number in 0..200 {
            folder.write("one.md", skill("one", &format!("{number}")));
            ask(&app, "refresh_skills", json!({})).await;
        }
    };
    let reading = || async {
        loop {
            assert_eq!(ask(&app, "get_skill", json!({ "context": "one" })).await["skill_path"], "one");
        }
    };
    tokio::select! {
        () = writing => {}
        never = reading() => never,
        never = reading() => never,
        never = reading() => never,
    }
    app.stop().await;
}
