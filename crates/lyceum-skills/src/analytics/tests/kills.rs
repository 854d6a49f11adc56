//! `kill -9` at bad moments, and recovery by the next process.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use lyceum_harness::random::Random;

use super::{
    child::{ChildSpec, Process},
    eventually, eventually_async, no_match, pending_events, publishing,
    receiver::{Behavior, Receiver},
    schedule, text, tracker,
};

/// Delivers pending events, as the next process does.
async fn recover(folder: &Path, receiver: &Receiver) {
    let tracker = tracker(folder);
    let done = eventually_async("all is delivered", || pending_events(folder) == 0);
    publishing(&tracker, receiver.endpoint(), schedule(2), done).await;
}

#[tokio::test]
async fn a_kill_between_rounds_loses_nothing() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let spec = ChildSpec::new(folder.path(), "killed").publishing(&receiver.url(), 3_600_000);
    let mut process = Process::start(&spec);
    process.request(20);
    process.wait_for(20);
    process.kill();
    assert_eq!(pending_events(folder.path()), 20);
    recover(folder.path(), &receiver).await;
    receiver.check_once(spec.contexts(20));
    assert_eq!(receiver.stored(), 20);
}

#[tokio::test]
async fn a_kill_between_the_request_and_the_removal_counts_nothing_twice() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([Behavior::StoreAndAnswerLate]));
    let spec = ChildSpec::new(folder.path(), "killed").publishing(&receiver.url(), 50);
    let mut process = Process::start(&spec);
    process.request(20);
    process.wait_for(20);
    // The receiver has stored the batch, and its response has not arrived yet.
    eventually("a request is out", || receiver.stored() > 0);
    process.kill();
    assert!(pending_events(folder.path()) > 0);
    recover(folder.path(), &receiver).await;
    receiver.check_once(spec.contexts(20));
    assert_eq!((receiver.stored(), receiver.max_deliveries()), (20, 2));
}

#[tokio::test]
async fn a_kill_in_the_middle_of_writing_loses_nothing_that_was_said_to_be_tracked() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let (mut contexts, mut most) = (Vec::new(), 0);
    for round in 0..10 {
        let mut spec = ChildSpec::new(folder.path(), &format!("killed in round {round}"));
        spec.padding = 3900;
        let mut process = Process::start(&spec);
        process.request(1_000_000);
        process.wait_for(20 * (round + 1));
        let (at_least, at_most) = process.kill();
        contexts.extend(spec.contexts(at_least));
        most += at_most;
        // The next process appends to what the last one left.
    }
    recover(folder.path(), &receiver).await;
    let (least, stored) = (contexts.len(), receiver.stored());
    receiver.check_once(contexts);
    assert!((least..=most).contains(&stored), "{least} <= {stored} <= {most}");
}

fn behavior(random: &mut Random) -> Behavior {
    match random.below(10) {
        0 => Behavior::Answer(500, ""),
        1 => Behavior::Answer(429, "Retry-After: 0\r\n"),
        2 => Behavior::HangUp,
        3 => Behavior::StoreAndHangUp,
        4 => Behavior::StoreAndAnswerLate,
        _ => Behavior::Store,
    }
}

#[tokio::test]
async fn whenever_it_is_killed_as_many_events_arrive_as_were_tracked() {
    const KILLS: u64 = 60;
    let start = Instant::now();
    let mut random = Random::drawn().unwrap();

    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let (mut contexts, mut most) = (Vec::new(), 0);
    for kill in 0..KILLS {
        receiver.behave((0..8).map(|_| behavior(&mut random)).collect::<Vec<_>>());
        let mut spec = ChildSpec::new(folder.path(), &format!("killed {kill}"));
        spec = spec.publishing(&receiver.url(), 1 + random.below(3) as u64);
        spec.padding = if random.below(4) == 0 { 3000 } else { 10 };
        let mut process = Process::start(&spec);
        for _ in 0..random.below(6) {
            let count = 1 + random.below(10);
            let before = process.tracked;
            process.request(count);
            if random.below(2) == 0 {
                process.wait_for(before + count);
            }
        }
        process.run_for(random.shorter_than(Duration::from_millis(40)));
        let (at_least, at_most) = process.kill();
        contexts.extend(spec.contexts(at_least));
        most += at_most;
    }
    receiver.behave([]);
    let repeated = receiver.max_deliveries() > 1;
    recover(folder.path(), &receiver).await;

    let (least, stored) = (contexts.len(), receiver.stored());
    receiver.check_once(contexts);
    assert!((least..=most).contains(&stored), "{least} <= {stored} <= {most}");
    assert!(least > 100 && repeated, "the kills were too gentle: {least} tracked, repeated: {repeated}");
    assert_eq!(text(folder.path(), "analytics-buffer.jsonl"), "");
    println!("{KILLS} kills, {least} to {most} tracked, {stored} stored, {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_event_after_many_kills_arrives_like_any_other() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    for _ in 0..3 {
        let spec = ChildSpec::new(folder.path(), "killed at once").publishing(&receiver.url(), 1);
        Process::start(&spec).kill();
    }
    tracker(folder.path()).track(&no_match("alive"));
    recover(folder.path(), &receiver).await;
    receiver.check_once(["alive".to_owned()]);
}
