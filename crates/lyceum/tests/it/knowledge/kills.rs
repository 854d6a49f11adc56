//! Kills the process at critical moments; the next one recovers.

use std::{
    os::unix::process::ExitStatusExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use lyceum_harness::random::Random;

use super::stage::{Ended, Program, Shelf, Stage, command, published, unpublished};

/// How long a restart may take until content is served again.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// Enough documents to be read and staged in several batches.
const MANY: usize = 80;

/// Enough documents to be uploaded in several batches.
const VERY_MANY: usize = 150;

/// The signal of a process that aborts.
const ABORTED: i32 = 6;

fn write_documents(stage: &Stage, count: usize, round: &str) {
    for number in 0..count {
        let text = if number % 10 == 0 { unpublished(round) } else { published("Many", round) };
        stage.kb.write(format!("notes/{}/{number}.md", number % 7), text).unwrap();
    }
}

/// Starts a program that ends at a failpoint, and waits for its end.
async fn ends_at(stage: &Stage, step: &str) -> Ended {
    let command = command(stage.folder.path(), &stage.data(), &[("LYCEUM_TRIAL_END_AT", step)]);
    match Program::of(command, stage.folder.path()).await {
        Ok(program) => program.ends().await,
        Err(ended) => ended,
    }
}

/// Starts the next program, and checks that it serves the previous content at once.
async fn restarted(stage: &Stage) -> Program {
    let program = stage.start().await;
    program.shows_something().await;
    let took = program.began.elapsed();
    assert!(took < READY_TIMEOUT, "it was ready after {took:?}");
    program
}

/// Ends the program at a failpoint of its first sync.
async fn check_first(step: &str, count: usize) {
    let stage = Stage::new().await;
    write_documents(&stage, count, "one");
    let commit = stage.kb.publish().await.unwrap();
    let ended = ends_at(&stage, step).await;
    assert_eq!(ended.status.signal(), Some(ABORTED), "at {step}: {ended:?}");
    let program = stage.start().await;
    program.shows(&commit).await;
    let shelf = Shelf::settled(&stage.data(), &commit).await;
    program.kill().await;
    assert_eq!(usize::try_from(shelf.count("published")).unwrap(), 1 + count - count.div_ceil(10));
    check_next_on(&stage, step, count).await;
}

/// Ends the program at a failpoint of a later sync.
async fn check_next(step: &str, count: usize) {
    let stage = Stage::new().await;
    write_documents(&stage, count, "one");
    let commit = stage.kb.publish().await.unwrap();
    let program = stage.start().await;
    program.shows(&commit).await;
    program.kill().await;
    check_next_on(&stage, step, count).await;
}

async fn check_next_on(stage: &Stage, step: &str, count: usize) {
    write_documents(stage, count, "two");
    stage.kb.write("notes/1/1.md", unpublished("no longer")).unwrap();
    stage.kb.remove("notes/2/2.md").unwrap();
    stage.kb.git(["mv", "notes/3/3.md", "notes/moved.md"]).unwrap();
    let commit = stage.kb.publish().await.unwrap();
    let ended = ends_at(stage, step).await;
    assert_eq!(ended.status.signal(), Some(ABORTED), "at {step}: {ended:?}");
    let program = restarted(stage).await;
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
}

/// Ends the program at a failpoint of a webhook delivery.
async fn check_delivery(step: &str) {
    let stage = Stage::new().await;
    stage.started().await.kill().await;
    let program = stage.start_with(&[("LYCEUM_TRIAL_END_AT", step)]).await;
    program.shows_something().await;
    stage.kb.write("notes/second.md", published("Second", "two")).unwrap();
    let commit = stage.kb.publish().await.unwrap();
    let ended = program.ends().await;
    assert_eq!(ended.status.signal(), Some(ABORTED), "at {step}: {ended:?}");
    let delivery = stage.last_delivery().await;
    assert!(!delivery.outcome.is_acknowledged(), "{delivery:?}");

    let program = restarted(&stage).await;
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
    // A sender without a response redelivers, and is acknowledged.
    assert!(stage.git.redeliver(&delivery.id).await.unwrap().is_acknowledged());
}

#[tokio::test]
async fn an_end_before_a_delivery_is_written_down() {
    check_delivery("delivery").await;
}

#[tokio::test]
async fn an_end_before_a_delivery_is_acknowledged() {
    check_delivery("accepted").await;
}

#[tokio::test]
async fn an_end_before_anything_is_read() {
    check_first("planned", MANY).await;
}

#[tokio::test]
async fn an_end_between_two_files() {
    check_first("read:2", MANY).await;
}

#[tokio::test]
async fn an_end_between_two_documents() {
    check_first("staged:2", MANY).await;
}

#[tokio::test]
async fn an_end_when_the_commit_counts_and_nothing_is_in_its_place() {
    check_first("published", MANY).await;
}

#[tokio::test]
async fn an_end_between_two_objects() {
    check_first("uploaded:2", VERY_MANY).await;
}

#[tokio::test]
async fn an_end_before_the_catalog_shows_it() {
    check_next("followed", MANY).await;
}

/// Commits and pushes until stopped; returns how many times.
async fn keep_pushing(stage: Arc<Stage>, stop: Arc<AtomicBool>, mut random: Random) -> usize {
    let mut commits = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..=random.below(12) {
            change(&stage, &mut random, commits);
        }
        stage.kb.publish().await.unwrap();
        commits += 1;
    }
    commits
}

/// Makes a random change to one file.
fn change(stage: &Stage, random: &mut Random, round: usize) {
    let path = |random: &mut Random| format!("notes/{}/{}.md", random.below(5), random.below(40));
    let (one, other) = (path(random), path(random));
    let exists = |path: &str| stage.kb.work().join(path).exists();
    match random.below(6) {
        0 => stage.kb.write(one, unpublished("for now")).unwrap(),
        1 if exists(&one) => stage.kb.remove(one).unwrap(),
        2 if exists(&one) && one != other => {
            let text = std::fs::read(stage.kb.work().join(&one)).unwrap();
            stage.kb.write(other, text).unwrap();
            stage.kb.remove(one).unwrap();
        }
        3 => stage.kb.write(one, published("Large", &format!("{round} ").repeat(20_000))).unwrap(),
        _ => stage.kb.write(one, published("Changed", &format!("in round {round}"))).unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_it_is_killed_nothing_is_lost_and_nothing_is_left_over() {
    const KILLS: u64 = 100;
    const STOPS: u64 = 10;
    let began = Instant::now();
    let mut random = Random::drawn().unwrap();

    let stage = Arc::new(Stage::new().await);
    stage.started().await.kill().await;
    let stop = Arc::new(AtomicBool::new(false));
    let pushing = tokio::spawn(keep_pushing(stage.clone(), stop.clone(), random.fork()));
    let mut slowest = Duration::ZERO;
    for _ in 0..KILLS {
        if random.below(4) == 0 {
            // Killed during start-up.
            let mut child = command(stage.folder.path(), &stage.data(), &[]).spawn().unwrap();
            tokio::time::sleep(random.shorter_than(Duration::from_millis(200))).await;
            child.start_kill().unwrap();
            child.wait().await.unwrap();
            continue;
        }
        let program = restarted(&stage).await;
        slowest = slowest.max(program.began.elapsed());
        tokio::time::sleep(random.shorter_than(Duration::from_millis(600))).await;
        program.kill().await;
    }
    // A graceful stop leaves no more behind than a kill.
    for _ in 0..STOPS {
        let program = restarted(&stage).await;
        tokio::time::sleep(random.shorter_than(Duration::from_millis(300))).await;
        program.stop().await;
    }
    stop.store(true, Ordering::Relaxed);
    let commits = pushing.await.unwrap();
    let program = restarted(&stage).await;
    stage.check_equal_to_scratch(&program).await;

    assert_eq!(half_written(&stage.data()), 0, "files were left half written");
    let deliveries = stage.deliveries().await;
    let acknowledged = deliveries.iter().filter(|one| one.outcome.is_acknowledged()).count();
    println!(
        "{KILLS} kills, {commits} commits, {acknowledged} of {} deliveries acknowledged, slowest restart {slowest:?}, \
         {:?}",
        deliveries.len(),
        began.elapsed()
    );
    assert!(commits > 20 && acknowledged > 5, "the kills were too kind");
}

/// Number of half-written object files.
fn half_written(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => half_written(&entry.path()),
            _ => usize::from(entry.file_name().to_string_lossy().contains('#')),
        })
        .sum()
}
