//! A failing Git server.

use std::time::Duration;

use lyceum_testkit::ServerBehavior;

use crate::{
    app::get,
    knowledge::stage::{Program, Stage, published},
};

/// A program that serves a first commit, and is notified of a second one while the server behaves like that.
async fn told_while(answers: ServerBehavior) -> (Stage, Program, String, String) {
    let stage = Stage::new().await;
    let program = stage.started().await;
    let before = program.shows_something().await;
    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    stage.git.lose_deliveries(1);
    let commit = stage.kb.publish().await.unwrap();
    let lost = stage.last_delivery().await;
    stage.git.behave(answers);
    assert!(stage.git.redeliver(&lost.id).await.unwrap().is_acknowledged());
    (stage, program, before, commit)
}

/// Checks the reported error, and that everything recovers with the server.
async fn check(answers: ServerBehavior, says: &str) {
    let (stage, program, before, commit) = told_while(answers).await;
    program.complains(says, &before).await;
    assert_eq!(program.send(get("/readyz")).await.unwrap().status, 200);
    stage.git.behave(ServerBehavior::Normally);
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
}

#[tokio::test]
async fn a_server_that_lets_nobody_in() {
    check(ServerBehavior::With(401), "authentication failed; check the token").await;
}

#[tokio::test]
async fn a_server_that_is_asked_too_often() {
    check(ServerBehavior::With(429), "the server returned an error; try again later").await;
}

#[tokio::test]
async fn a_server_that_fails() {
    check(ServerBehavior::With(500), "the server returned an error; try again later").await;
}

#[tokio::test]
async fn a_server_that_breaks_off_in_the_middle_of_a_pack() {
    check(ServerBehavior::HalfAPack, "the connection was lost; try again later").await;
}

#[tokio::test]
async fn a_server_that_breaks_off_in_the_middle_of_the_first_clone() {
    let stage = Stage::new().await;
    stage.git.behave(ServerBehavior::HalfAPack);
    let program = stage.start().await;
    let source = program.fails_with("the connection was lost; try again later").await;
    assert!(source["commit"].is_null(), "{source}");
    stage.git.behave(ServerBehavior::Normally);
    program.shows_something().await;
    stage.check_equal_to_scratch(&program).await;
}

#[tokio::test]
async fn a_server_that_never_answers_holds_up_nobody() {
    let (stage, program, before, commit) = told_while(ServerBehavior::Never).await;
    let asked = stage.git.requests();
    crate::knowledge::stage::eventually("the question for news", || async {
        if stage.git.requests() > asked { Ok(()) } else { Err("not yet".to_owned()) }
    })
    .await;
    // Git waits a minute for a silent server. Meanwhile everything else works.
    for _ in 0..20 {
        let source = program.source().await.unwrap();
        assert_eq!((&source["commit"], &source["state"]), (&before.as_str().into(), &"ready".into()));
        assert_eq!(program.send(get("/readyz")).await.unwrap().status, 200);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let lost = stage.last_delivery().await;
    assert!(stage.git.redeliver(&lost.id).await.unwrap().is_acknowledged());
    // The connection finally ends.
    stage.git.stop();
    program.complains("could not be reached, or the connection was lost", &before).await;
    stage.git.behave(ServerBehavior::Normally);
    stage.git.start_again().await.unwrap();
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
}
