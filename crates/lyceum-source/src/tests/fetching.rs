//! A repository over HTTP, from the first clone on.

use std::{path::PathBuf, process::Command, time::Duration};

use lyceum_testkit::{ServerBehavior, TestRepository};

use super::{Machine, left_out, names, peer, read, server, texts};
use crate::{Error, Fault, Kind, Limits, Repository, Settings, Source};

#[tokio::test]
async fn a_repository_is_cloned_and_then_fetched() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.write("b/c.md", "two").unwrap();
    let first = kb.commit().unwrap();
    let machine = Machine::new();
    let source = Source::Repository(machine.repository(&server.url("kb.git")));
    assert_eq!(source.kind(), Kind::Repository);
    assert!(source.local().unwrap().is_none(), "there is no clone before the first refresh");

    let before = source.refresh().await.unwrap();
    assert_eq!(before.commit(), Some(first.as_str()));
    assert_eq!(names(&before), ["a.md", "b/c.md"]);
    assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
    let again = source.refresh().await.unwrap();
    assert_eq!(again.changed_since(&before), 0);

    kb.write("a.md", "changed").unwrap();
    kb.write("d.md", "new").unwrap();
    kb.remove("b/c.md").unwrap();
    let second = kb.commit().unwrap();
    let after = source.refresh().await.unwrap();
    assert_eq!(after.commit(), Some(second.as_str()));
    assert_eq!(after.changed_since(&before), 3);
    assert_eq!(read(&after, "a.md"), "changed");
    // The previous commit stays readable.
    assert_eq!((read(&before, "a.md"), read(&before, "b/c.md")), ("one".to_owned(), "two".to_owned()));
    assert_eq!(source.local().unwrap().unwrap().commit(), Some(second.as_str()));
}

#[tokio::test]
async fn only_the_newest_commit_is_brought_in() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "the past").unwrap();
    let past = kb.commit().unwrap();
    kb.write("a.md", "now").unwrap();
    kb.commit().unwrap();
    let machine = Machine::new();
    machine.repository(&server.url("kb.git")).refresh().await.unwrap();
    let found = Command::new("git")
        .arg("--git-dir")
        .arg(machine.clone_dir())
        .args(["cat-file", "-e", &past])
        .output();
    assert!(!found.unwrap().status.success(), "history was fetched too");
}

#[tokio::test]
async fn what_is_here_is_served_while_the_server_is_off() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    let commit = kb.commit().unwrap();
    let machine = Machine::new();
    machine.repository(&server.url("kb.git")).refresh().await.unwrap();
    server.stop();

    let restarted = machine.repository(&server.url("kb.git"));
    let error = restarted.refresh().await.unwrap_err();
    assert!(matches!(error, Error::Git { fault: Fault::Unreachable, .. }), "{error:?}");
    let snapshot = restarted.local().unwrap().unwrap();
    assert_eq!(snapshot.commit(), Some(commit.as_str()));
    assert_eq!(read(&snapshot, "a.md"), "one");

    server.start_again().await.unwrap();
    restarted.refresh().await.unwrap();
}

#[tokio::test]
async fn a_force_push_replaces_what_was_there() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    let before = repository.refresh().await.unwrap();
    kb.write("a.md", "rewritten").unwrap();
    let rewritten = kb.rewrite().unwrap();
    let after = repository.refresh().await.unwrap();
    assert_eq!(after.commit(), Some(rewritten.as_str()));
    assert_eq!((read(&before, "a.md"), read(&after, "a.md")), ("one".to_owned(), "rewritten".to_owned()));
}

#[tokio::test]
async fn a_deleted_branch_is_an_error_that_says_so_and_what_was_there_stays() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    let commit = kb.commit().unwrap();
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    let before = repository.refresh().await.unwrap();
    kb.delete_branch("main").unwrap();
    let error = repository.refresh().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the repository has no branch \"main\"; push it, or configure another branch"
    );
    assert_eq!(read(&before, "a.md"), "one");
    assert_eq!(
        machine.repository(&server.url("kb.git")).local().unwrap().unwrap().commit(),
        Some(commit.as_str())
    );
}

#[tokio::test]
async fn an_empty_repository_has_no_branch_until_one_is_pushed() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    let machine = Machine::new();
    let repository = machine.repository(&server.url("kb.git"));
    let error = repository.refresh().await.unwrap_err();
    assert!(matches!(error, Error::Git { fault: Fault::Branch, .. }), "{error:?}");
    assert_eq!(machine.siblings(), ["kb.git.lock"]);
    // An empty commit is enough.
    kb.commit().unwrap();
    assert!(repository.refresh().await.unwrap().files().is_empty());
}

#[tokio::test]
async fn another_branch_of_the_same_clone_is_its_own() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "main").unwrap();
    kb.commit().unwrap();
    kb.git(["branch", "team/draft-ü"]).unwrap();
    kb.write("a.md", "newer main").unwrap();
    kb.commit().unwrap();
    let machine = Machine::new();
    machine.repository(&server.url("kb.git")).refresh().await.unwrap();
    let settings = Settings { branch: "team/draft-ü".to_owned(), ..machine.settings(&server.url("kb.git")) };
    let draft = Repository::new(settings).unwrap();
    assert!(draft.local().unwrap().is_none());
    assert_eq!(read(&draft.refresh().await.unwrap(), "a.md"), "main");
    assert_eq!(
        read(&machine.repository(&server.url("kb.git")).local().unwrap().unwrap(), "a.md"),
        "newer main"
    );
}

#[tokio::test]
async fn a_repository_that_moved_on_its_server_is_followed() {
    let server = server().await;
    let kb = server.repository("new.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    server.move_repository("old.git", &server.url("new.git"));
    let machine = Machine::new();
    let repository = machine.repository(&server.url("old.git"));
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
    kb.write("a.md", "two").unwrap();
    kb.commit().unwrap();
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "two");
}

#[tokio::test]
async fn another_address_for_the_same_clone_is_another_repository() {
    let server = server().await;
    let (one, two) = (server.repository("one.git").unwrap(), server.repository("two.git").unwrap());
    one.write("a.md", "one").unwrap();
    one.commit().unwrap();
    two.write("a.md", "two").unwrap();
    two.commit().unwrap();
    let sha256 = TestRepository::with_format(one.path().parent().unwrap(), "three.git", "sha256").unwrap();
    sha256.write("a.md", "three").unwrap();
    let third = sha256.commit().unwrap();
    let machine = Machine::new();
    machine.repository(&server.url("one.git")).refresh().await.unwrap();

    let moved = machine.repository(&server.url("two.git"));
    assert!(moved.local().unwrap().is_none(), "the previous repository is still served");
    assert_eq!(read(&moved.refresh().await.unwrap(), "a.md"), "two");
    assert_eq!(read(&machine.repository(&server.url("two.git")).local().unwrap().unwrap(), "a.md"), "two");
    // Another object format: nothing of the clone can be reused.
    let other = machine.repository(&server.url("three.git"));
    let snapshot = other.refresh().await.unwrap();
    assert_eq!((read(&snapshot, "a.md"), snapshot.commit()), ("three".to_owned(), Some(third.as_str())));
    assert_eq!(machine.siblings(), ["kb.git", "kb.git.lock"]);
}

#[tokio::test]
async fn a_repository_of_this_machine_is_one_too() {
    let folder = tempfile::TempDir::new().unwrap();
    let kb = TestRepository::with_format(folder.path(), "my kb.git", "sha1").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    let path = kb.path().to_str().unwrap();
    for url in [path.to_owned(), format!("{path}/"), format!("file://{path}")] {
        let machine = Machine::new();
        let repository = machine.repository(&url);
        assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
        assert_eq!(left_out(&repository.refresh().await.unwrap()), [""; 0]);
    }
}

/// Checks the fault and the message.
#[track_caller]
fn check(error: &Error, fault: Fault, words: &str) {
    let (shown, all) = texts(error);
    assert!(matches!(error, Error::Git { fault: found, .. } if *found == fault), "{all}");
    assert!(shown.contains(words), "{shown}");
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let server = server().await;
    server.repository("kb.git").unwrap().commit().unwrap();
    let machine = Machine::new();
    let fail = async |url: &str| machine.repository(url).refresh().await.unwrap_err();
    check(&fail(&server.url("nothing.git")).await, Fault::NotFound, "check its URL");
    check(&fail("http://nothing.invalid/kb.git").await, Fault::UnknownHost, "could not be resolved");
    check(&fail("/nothing/here.git").await, Fault::NotFound, "check its URL");
    server.behave(ServerBehavior::With(500));
    check(&fail(&server.url("kb.git")).await, Fault::Server, "try again later");
    server.behave(ServerBehavior::With(403));
    check(&fail(&server.url("kb.git")).await, Fault::Denied, "check the token");
    server.behave(ServerBehavior::Normally);
    server.require_token("t0ken");
    check(&fail(&server.url("kb.git")).await, Fault::Denied, "check the token");
    assert_eq!(machine.siblings(), ["kb.git.lock"], "something was left behind");
}

#[tokio::test]
async fn a_machine_without_git_says_so() {
    let machine = Machine::new();
    let settings =
        Settings { git: PathBuf::from("no-such-git"), ..machine.settings("https://example.org/kb") };
    let error = Repository::new(settings).unwrap().refresh().await.unwrap_err();
    assert!(error.to_string().starts_with("could not start git; install it"), "{error}");
    assert!(matches!(error, Error::NoGit(_)));
}

#[tokio::test]
async fn a_server_that_never_answers_is_waited_for_within_the_limit() {
    let server = server().await;
    server.repository("kb.git").unwrap().commit().unwrap();
    server.behave(ServerBehavior::Never);
    let machine = Machine::new();
    let limits = Limits { clone: Duration::from_millis(300), ..Limits::default() };
    let settings = Settings { limits, ..machine.settings(&server.url("kb.git")) };
    let error = Repository::new(settings).unwrap().refresh().await.unwrap_err();
    assert!(matches!(error, Error::TooSlow { .. }), "{error:?}");
    assert_eq!(machine.siblings(), ["kb.git.lock"]);
}

#[test]
fn names_that_no_branch_can_have_are_refused() {
    for branch in ["", "-x", "a..b", "a b", "a:b", "refs/heads/*", "x.lock", "a\nb", "@{u}"] {
        let settings =
            Settings { branch: branch.to_owned(), ..Settings::new("https://example.org/kb", "kb", peer()) };
        assert!(matches!(Repository::new(settings), Err(Error::Settings(_))), "{branch:?}");
    }
}
