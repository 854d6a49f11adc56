//! Several processes of one user, on one folder.

use std::{fs, process::Command};

use super::{
    child::{ChildSpec, Process},
    eventually, pending_events,
    receiver::{Behavior, Receiver},
    text,
};

#[test]
fn two_processes_that_track_and_publish_at_once_lose_nothing() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let specs =
        ["one", "other"].map(|name| ChildSpec::new(folder.path(), name).publishing(&receiver.url(), 1));
    let mut processes = specs.each_ref().map(Process::start);
    for _ in 0..10 {
        processes.iter_mut().for_each(|process| process.request(150));
    }
    processes.iter_mut().for_each(|process| process.wait_for(1500));
    eventually("all arrive", || receiver.stored() == 3000 && pending_events(folder.path()) == 0);
    processes.into_iter().for_each(|process| assert_eq!(process.end(), (1500, 0)));
    receiver.check_once(specs.iter().flat_map(|spec| spec.contexts(1500)));
    assert_eq!(receiver.max_deliveries(), 1);
    assert_eq!(text(folder.path(), "analytics-torn.jsonl"), "");
}

#[test]
fn four_processes_that_write_large_events_at_once_tear_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let specs = ["a", "b", "c", "d"].map(|name| {
        let mut spec = ChildSpec::new(folder.path(), name);
        spec.padding = 3000;
        spec
    });
    let mut processes = specs.each_ref().map(Process::start);
    processes.iter_mut().for_each(|process| process.request(300));
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
    let mut expected: Vec<_> = specs.iter().flat_map(|spec| spec.contexts(300)).collect();
    expected.sort();
    assert!(contexts == expected, "{} of {}", contexts.len(), expected.len());
}

#[test]
fn when_the_one_that_publishes_is_killed_another_takes_over() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([Behavior::StoreAndAnswerLate]));
    let spec = |name| ChildSpec::new(folder.path(), name).publishing(&receiver.url(), 5);
    let (leader, other) = (spec("leader"), spec("other"));
    let mut first = Process::start(&leader);
    first.request(10);
    first.wait_for(10);
    eventually("it publishes", || receiver.stored() > 0);
    let mut second = Process::start(&other);
    second.request(10);
    second.wait_for(10);
    first.kill();
    eventually("all arrive", || receiver.stored() == 20 && pending_events(folder.path()) == 0);
    second.end();
    receiver.check_once(leader.contexts(10).into_iter().chain(other.contexts(10)));
}

#[test]
fn a_process_that_is_stopped_does_not_stop_the_tools_of_the_others() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let stopped = ChildSpec::new(folder.path(), "stopped").publishing(&receiver.url(), 1);
    let mut first = Process::start(&stopped);
    first.request(1_000_000);
    first.wait_for(100);
    assert!(Command::new("kill").args(["-STOP", &first.id().to_string()]).status().unwrap().success());
    let mut second = Process::start(&ChildSpec::new(folder.path(), "other"));
    second.request(500);
    second.wait_for(500);
    assert_eq!(second.end(), (500, 0));
    first.kill();
}
