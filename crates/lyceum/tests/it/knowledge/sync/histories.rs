//! Changes of branches and repositories.

use super::{check, paths};
use crate::knowledge::stage::{Shelf, Stage, published};

#[tokio::test]
async fn another_history_takes_the_place_of_the_first() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    for round in 0..3 {
        kb.write("notes/first.md", published("First", &format!("rewritten {round}"))).unwrap();
        kb.write(format!("notes/{round}.md"), published("Round", "x")).unwrap();
        if round > 0 {
            kb.remove(format!("notes/{}.md", round - 1)).unwrap();
        }
        let commit = kb.rewrite().unwrap();
        kb.force_push().await.unwrap();
        program.shows(&commit).await;
        let shelf = stage.check_equal_to_scratch(&program).await;
        assert_eq!(paths(&shelf), [&format!("notes/{round}.md"), "notes/first.md"]);
    }
}

#[tokio::test]
async fn two_hundred_commits_come_in_one_push() {
    let stage = Stage::new().await;
    let (kb, program) = (&stage.kb, stage.started().await);
    // Git creates them far faster from one stream than one by one.
    let mut stream = String::new();
    for number in 0..200 {
        let (message, text) = (format!("number {number}"), published("Counted", &format!("number {number}")));
        stream += "commit refs/heads/main\ncommitter Test <test@example.org> 1767225600 +0000\n";
        stream += &format!("data {}\n{message}\n", message.len());
        stream += if number == 0 { "from refs/heads/main^0\n" } else { "" };
        stream += &format!("M 100644 inline notes/counted.md\ndata {}\n{text}\n", text.len());
        stream += &format!("M 100644 inline notes/{number}.md\ndata {}\n{text}\n", text.len());
        if number % 2 == 1 {
            stream += &format!("D notes/{}.md\n", number - 1);
        }
    }
    kb.fast_import(&stream).unwrap();
    kb.push().await.unwrap();
    program.shows(&kb.git(["rev-parse", "HEAD"]).unwrap()).await;
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert_eq!(shelf.text("notes/counted.md"), "number 199\n");
    assert_eq!(shelf.count("published"), 102);
    let told: serde_json::Value = serde_json::from_slice(&stage.last_delivery().await.body).unwrap();
    assert_eq!(told["commits"].as_array().unwrap().len(), 200);
}

#[tokio::test]
async fn what_was_there_is_served_while_its_branch_is_gone() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let before = stage.brings_in(&program).await;
    let kept = stage.check_equal_to_scratch(&program).await;
    stage.kb.push_as(":refs/heads/main").await.unwrap();
    let source = program.complains("has no branch \"main\"", &before).await;
    assert_eq!(
        source["error"],
        "the repository has no branch \"main\"; push it, or configure another branch"
    );
    Shelf::settled(&stage.data(), &before).await.check_equal_to(&kept);

    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let shelf = check(&stage, &program).await;
    assert_eq!(paths(&shelf), ["notes/first.md", "notes/second.md"]);
}

#[tokio::test]
async fn a_repository_that_moved_is_followed() {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let moved = stage.git.checkout("team/moved.git").unwrap();
    moved.write("notes/first.md", published("First", "at the new place")).unwrap();
    stage.git.move_repository("team/kb.git", &stage.git.url("team/moved.git"));
    stage.git.set_webhook(&format!("http://{}/nowhere", program.addr), "");
    let commit = moved.publish().await.unwrap();
    // GitHub sends webhooks of a renamed repository with its new name, which is unknown here; polling finds it.
    program.kill().await;
    let program = stage.start().await;
    program.shows(&commit).await;
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert_eq!(shelf.text("notes/first.md"), "at the new place\n");
    assert!(program.log().contains("the repository has moved; update its URL"), "{}", program.log());
}

#[tokio::test]
async fn an_empty_repository_waits_for_its_first_push() {
    let stage = Stage::empty().await;
    let program = stage.start().await;
    let source = program.fails_with("").await;
    assert_eq!(
        source["error"],
        "the repository has no branch \"main\"; push it, or configure another branch"
    );
    assert_eq!((&source["state"], &source["commit"]), (&"failed".into(), &serde_json::Value::Null));
    stage.kb.write("notes/first.md", published("First", "one")).unwrap();
    assert_eq!(paths(&check(&stage, &program).await), ["notes/first.md"]);
    // All of it removed again, except for the branch.
    stage.kb.remove("notes/first.md").unwrap();
    assert!(paths(&check(&stage, &program).await).is_empty());
}
