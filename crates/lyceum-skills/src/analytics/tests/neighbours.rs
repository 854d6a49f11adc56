//! Several processes of one user, on one folder.

use std::{fs, process::Command};

use super::{
    child::{Part, Process},
    eventually,
    receiver::{Manner, Receiver},
    text, waiting,
};

#[test]
fn two_processes_that_track_and_publish_at_once_lose_nothing() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let parts = ["one", "other"].map(|name| Part::new(folder.path(), name).publishing(&receiver.url(), 1));
    let mut processes = parts.each_ref().map(Process::start);
    for _ in 0..10 {
        processes.iter_mut().for_each(|process| process.ask(150));
    }
    processes.iter_mut().for_each(|process| process.wait_for(1500));
    eventually("all arrive", || receiver.stored() == 3000 && waiting(folder.path()) == 0);
    processes.into_iter().for_each(|process| assert_eq!(process.end(), (1500, 0)));
    receiver.check_once(parts.iter().flat_map(|part| part.contexts(1500)));
    assert_eq!(receiver.most_often(), 1);
    assert_eq!(text(folder.path(), "analytics-torn.jsonl"), "");
}

#[test]
fn four_processes_that_write_large_events_at_once_tear_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let parts = ["a", "b", "c", "d"].map(|name| {
        let mut part = Part::new(folder.path(), name);
        part.padding = 3000;
        part
    });
    let mut processes = parts.each_ref().map(Process::start);
    processes.iter_mut().for_each(|process| process.ask(300));
    processes.iter_mut().for_each(|process| process.wait_for(300));
    for process in processes {
        assert_eq!(process.end(), (300, 0));
    }
    let mut contexts = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        for line in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            contexts.push(event["data"]["context"].as_str().unwrap().to_owned());
        }
    }
    contexts.sort();
    let mut expected: Vec<_> = parts.iter().flat_map(|part| part.contexts(300)).collect();
    expected.sort();
    assert!(contexts == expected, "{} of {}", contexts.len(), expected.len());
}

#[test]
fn when_the_one_that_publishes_is_killed_another_takes_over() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([Manner::StoreAndAnswerLate]));
    let part = |name| Part::new(folder.path(), name).publishing(&receiver.url(), 5);
    let (leader, other) = (part("leader"), part("other"));
    let mut first = Process::start(&leader);
    first.ask(10);
    first.wait_for(10);
    eventually("it publishes", || receiver.stored() > 0);
    let mut second = Process::start(&other);
    second.ask(10);
    second.wait_for(10);
    first.kill();
    eventually("all arrive", || receiver.stored() == 20 && waiting(folder.path()) == 0);
    second.end();
    receiver.check_once(leader.contexts(10).into_iter().chain(other.contexts(10)));
}

#[test]
fn a_process_that_is_stopped_does_not_stop_the_tools_of_the_others() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let stopped = Part::new(folder.path(), "stopped").publishing(&receiver.url(), 1);
    let mut first = Process::start(&stopped);
    first.ask(1_000_000);
    first.wait_for(100);
    assert!(Command::new("kill").args(["-STOP", &first.id().to_string()]).status().unwrap().success());
    let mut second = Process::start(&Part::new(folder.path(), "other"));
    second.ask(500);
    second.wait_for(500);
    assert_eq!(second.end(), (500, 0));
    first.kill();
}
