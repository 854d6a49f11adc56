//! Two processes on one data folder: one syncs, both serve.

use std::time::{Duration, Instant};

use crate::knowledge::stage::{Program, SECRET, Stage, published};

/// How long it may take until both serve a push, or until one takes over from the other.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Sends webhooks only to that program.
fn tell(stage: &Stage, program: &Program) {
    stage.git.set_webhook(&format!("http://{}/webhooks/github", program.addr), SECRET);
}

async fn push(stage: &Stage, text: &str) -> String {
    stage.kb.write("notes/first.md", published("First", text)).unwrap();
    stage.kb.publish().await.unwrap()
}

#[tokio::test]
async fn two_processes_serve_one_folder_and_one_takes_the_place_of_the_other() {
    let stage = Stage::new().await;
    let leader = stage.started().await;
    let follower = stage.started().await;
    for (round, told) in [&leader, &follower, &leader, &follower].into_iter().enumerate() {
        tell(&stage, told);
        let commit = push(&stage, &format!("round {round}")).await;
        let began = Instant::now();
        leader.shows_within(TIMEOUT, &commit).await;
        follower.shows_within(TIMEOUT, &commit).await;
        println!("both show it after {:?}", began.elapsed());
        assert!(began.elapsed() < TIMEOUT, "{:?}", began.elapsed());
        assert!(stage.last_delivery().await.outcome.is_acknowledged());
    }
    let said = "another process syncs this data folder";
    assert!(follower.log().contains(said) && !leader.log().contains(said));

    tell(&stage, &follower);
    leader.kill().await;
    let commit = push(&stage, "after the end of the first").await;
    let began = Instant::now();
    follower.shows_within(TIMEOUT, &commit).await;
    println!("the other took over after {:?}", began.elapsed());
    stage.check_equal_to_scratch(&follower).await;

    // And the other way round, with a push in between without a webhook.
    let another = stage.started().await;
    follower.kill().await;
    stage.git.lose_deliveries(1);
    let commit = push(&stage, "nobody was told").await;
    another.shows_within(TIMEOUT, &commit).await;
    stage.check_equal_to_scratch(&another).await;
}

#[tokio::test]
async fn many_processes_that_start_at_once_agree() {
    let stage = Stage::new().await;
    let started = futures::future::join_all((0..4).map(|_| stage.start())).await;
    let commit = started[0].shows_something().await;
    for program in &started {
        program.shows_within(Duration::from_secs(10), &commit).await;
    }
    stage.check_equal_to_scratch(&started[0]).await;
}
