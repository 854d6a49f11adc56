//! Interrupted clones and fetches, and concurrent processes on one clone.

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use lyceum_testkit::{GitServer, ServerBehavior, TestRepository};
use rustix::process::{Pid, Signal, kill_process};

use super::{Machine, peer, read, server};
use crate::{Error, Fault, Limits, Repository, Settings, git::is_running};

async fn server_with_one_file() -> (GitServer, TestRepository) {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    (server, kb)
}

/// Waits for a condition.
async fn soon(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "timed out waiting for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process group recorded in the lock file of the clone, if any.
fn group(machine: &Machine) -> Option<i32> {
    fs::read_to_string(machine.clone_dir().with_extension("git.lock")).ok()?.parse().ok()
}

fn is_alive(group: i32) -> bool {
    is_running(Pid::from_raw(group).unwrap())
}

#[tokio::test]
async fn a_clone_that_is_given_up_leaves_no_process_and_nothing_half() {
    let (server, _kb) = server_with_one_file().await;
    server.behave(ServerBehavior::WithoutPacks);
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    let refresh = tokio::spawn({
        let repository = repository.clone();
        async move { repository.refresh().await }
    });
    soon("the request for a pack", || server.requests() >= 3).await;
    let group = group(&machine).unwrap();
    assert!(is_alive(group));
    refresh.abort();
    assert!(refresh.await.unwrap_err().is_cancelled());
    soon("the end of git", || !is_alive(group)).await;
    assert!(!machine.clone_dir().exists());

    server.behave(ServerBehavior::Normally);
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
    assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
}

#[tokio::test]
async fn a_clone_whose_git_is_killed_fails_and_leaves_nothing_half() {
    let (server, _kb) = server_with_one_file().await;
    server.behave(ServerBehavior::WithoutPacks);
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    let refresh = tokio::spawn({
        let repository = repository.clone();
        async move { repository.refresh().await }
    });
    soon("the request for a pack", || server.requests() >= 3).await;
    let group = group(&machine).unwrap();
    kill_process(Pid::from_raw(group).unwrap(), Signal::KILL).unwrap();
    let error = refresh.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error:?}");
    soon("the end of git's children", || !is_alive(group)).await;
    assert_eq!(machine.siblings(), ["kb.git.lock"]);

    server.behave(ServerBehavior::Normally);
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
}

#[tokio::test]
async fn a_process_that_is_killed_while_it_clones_is_cleaned_up_after() {
    let (server, _kb) = server_with_one_file().await;
    server.behave(ServerBehavior::WithoutPacks);
    let machine = Machine::new();
    let mut other = Command::new(peer())
        .arg(server.url("kb.git"))
        .arg(machine.clone_dir())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    soon("the request for a pack", || server.requests() >= 3).await;
    let orphan = group(&machine).unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(
        machine.siblings().iter().any(|name| name.starts_with("kb.git.new-")),
        "{:?}",
        machine.siblings()
    );

    // Its git may still be running; that must not matter.
    server.behave(ServerBehavior::Normally);
    let repository = machine.repository(&server.url("kb.git"));
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
    server.stop();
    soon("the end of the orphan", || !is_alive(orphan)).await;
    server.start_again().await.unwrap();
    repository.refresh().await.unwrap();
    assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
}

#[tokio::test]
async fn a_fetch_that_is_given_up_does_not_stand_in_the_way_of_the_next() {
    let (server, kb) = server_with_one_file().await;
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    let before = repository.refresh().await.unwrap();
    kb.write("a.md", "two").unwrap();
    kb.commit().unwrap();
    server.behave(ServerBehavior::WithoutPacks);
    let limits = Limits { fetch: Duration::from_secs(1), ..Limits::default() };
    let hasty = Repository::new(Settings { limits, ..machine.settings(&server.url("kb.git")) }).unwrap();
    let error = hasty.refresh().await.unwrap_err();
    assert!(matches!(error, Error::TooSlow { .. }), "{error:?}");
    // Killed a moment later, git would have left its lock file too.
    fs::write(machine.clone_dir().join("shallow.lock"), "").unwrap();
    fs::write(machine.clone_dir().join("objects/pack/tmp_pack_x"), "half").unwrap();
    assert_eq!(read(&before, "a.md"), "one");
    assert_eq!(read(&repository.local().unwrap().unwrap(), "a.md"), "one");

    server.behave(ServerBehavior::Normally);
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "two");
    assert!(!machine.clone_dir().join("objects/pack/tmp_pack_x").exists());
}

#[tokio::test]
async fn a_lock_of_git_is_kept_while_its_owner_lives() {
    let (server, kb) = server_with_one_file().await;
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    repository.refresh().await.unwrap();
    kb.write("a.md", "two").unwrap();
    kb.commit().unwrap();
    fs::write(machine.clone_dir().join("shallow.lock"), "").unwrap();
    // This process stands in for a running git.
    let ours = rustix::process::getpgrp().as_raw_nonzero().to_string();
    fs::write(machine.clone_dir().with_extension("git.lock"), &ours).unwrap();
    let error = repository.refresh().await.unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error:?}");
    assert!(machine.clone_dir().join("shallow.lock").exists());
    assert_eq!(
        read(&repository.refresh().await.unwrap(), "a.md"),
        "two",
        "the failed git did not record its process group"
    );
}

#[tokio::test]
async fn whoever_comes_second_waits_for_a_turn_but_not_for_ever() {
    let (server, _kb) = server_with_one_file().await;
    server.behave(ServerBehavior::WithoutPacks);
    let machine = Machine::new();
    let first = machine.repository(&server.url("kb.git"));
    let refresh = tokio::spawn(async move { first.refresh().await });
    soon("the request for a pack", || server.requests() >= 3).await;
    let limits = Limits { turn: Duration::from_millis(100), ..Limits::default() };
    let second = Repository::new(Settings { limits, ..machine.settings(&server.url("kb.git")) }).unwrap();
    let error = second.refresh().await.unwrap_err();
    assert!(matches!(error, Error::Busy), "{error:?}");
    refresh.abort();
    let _cancelled = refresh.await;
    server.behave(ServerBehavior::Normally);
    second.refresh().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_on_one_clone_do_not_break_it() {
    let (server, kb) = server_with_one_file().await;
    let machine = Machine::new();
    let start = || {
        let mut command = Command::new(peer());
        command.arg(server.url("kb.git")).arg(machine.clone_dir()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for round in 0..3 {
        kb.write("a.md", format!("round {round}")).unwrap();
        kb.commit().unwrap();
        let others: Vec<_> = (0..4).map(|_| start()).collect();
        let own = machine.repository(&server.url("kb.git")).refresh().await.unwrap();
        assert_eq!(read(&own, "a.md"), format!("round {round}"));
        for other in others {
            let output = tokio::task::spawn_blocking(|| other.wait_with_output()).await.unwrap().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let local = machine.repository(&server.url("kb.git")).local().unwrap().unwrap();
        assert_eq!(read(&local, "a.md"), format!("round {round}"));
        assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
    }
}

#[tokio::test]
async fn half_a_pack_is_an_error_and_leaves_nothing_in_the_way() {
    let (server, kb) = server_with_one_file().await;
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    server.behave(ServerBehavior::HalfAPack);
    let check = |error: Error| {
        assert!(matches!(error, Error::Git { fault: Fault::Unreachable, .. }), "{error:?}");
    };
    check(repository.refresh().await.unwrap_err());
    assert_eq!(machine.siblings(), ["kb.git.lock"]);
    server.behave(ServerBehavior::Normally);
    let before = repository.refresh().await.unwrap();
    kb.write("a.md", "two").unwrap();
    kb.commit().unwrap();
    server.behave(ServerBehavior::HalfAPack);
    check(repository.refresh().await.unwrap_err());
    assert_eq!(read(&before, "a.md"), "one");
    server.behave(ServerBehavior::Normally);
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "two");
}
