//! Tokens work, and leak nowhere.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use lyceum_net::Secret;
use lyceum_testkit::{GitServer, ServerBehavior};

use super::{Machine, read, server, texts};
use crate::{Error, Fault, Repository, Settings};

const SECRET: &str = "t0ken-of-the-test";

/// A server with one repository that requires the secret.
async fn closed_server() -> GitServer {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    server.require_token(SECRET);
    server
}

fn repository(machine: &Machine, url: &str, token: &str) -> Repository {
    let token = Some(Secret::new(token).unwrap());
    Repository::new(Settings { token, ..machine.settings(url) }).unwrap()
}

/// All files below a folder that contain the text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if contains(&fs::read(&path).unwrap(), text) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn a_token_opens_the_repository_and_is_in_no_file() {
    let server = closed_server().await;
    let machine = Machine::new();
    let repository = repository(&machine, &server.url("kb.git"), SECRET);
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
    repository.refresh().await.unwrap();
    assert!(server.passwords().contains(&SECRET.to_owned()));
    assert!(files_with(&machine.folder.path().join("clones"), SECRET).is_empty());
    assert!(!format!("{repository:?}").contains(SECRET));
    assert_eq!(format!("{:?}", Secret::new(SECRET).unwrap()), "Secret(…)");
}

#[tokio::test]
async fn a_wrong_token_is_an_error_that_does_not_repeat_it() {
    let server = closed_server().await;
    let machine = Machine::new();
    let error = repository(&machine, &server.url("kb.git"), "wr0ng").refresh().await.unwrap_err();
    let (shown, all) = texts(&error);
    assert!(matches!(error, Error::Git { fault: Fault::Denied, .. }), "{all}");
    assert!(shown.contains("check the token"), "{shown}");
    assert!(!all.contains("wr0ng"), "{all}");
    assert_eq!(server.passwords(), ["wr0ng"], "it is tried once");
}

#[tokio::test]
async fn a_password_in_the_address_works_and_goes_nowhere_else() {
    let server = closed_server().await;
    let machine = Machine::new();
    let url = server.url("kb.git").replace("http://", &format!("http://me:{SECRET}@"));
    let repository = machine.repository(&url);
    assert_eq!(repository.url(), server.url("kb.git"));
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
    assert!(files_with(&machine.folder.path().join("clones"), SECRET).is_empty());
    let config = fs::read_to_string(machine.clone_dir().join("config")).unwrap();
    assert!(config.contains(&server.url("kb.git")) && !config.contains('@'), "{config}");
}

/// The descendant processes: arguments and environment of each.
fn processes_below(parent: u32) -> HashMap<u32, String> {
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    let parents: HashMap<u32, u32> = numbers
        .filter_map(|number| {
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            let after_name = stat.rsplit_once(") ")?.1;
            Some((number, after_name.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let is_below = |mut number: u32| {
        while let Some(above) = parents.get(&number) {
            if *above == parent {
                return true;
            }
            number = *above;
        }
        false
    };
    let below = parents.keys().copied().filter(|number| is_below(*number));
    let seen = below.map(|number| {
        let read = |file| fs::read(format!("/proc/{number}/{file}")).unwrap_or_default();
        let text = [read("cmdline"), b"\n".to_vec(), read("environ")].concat();
        (number, String::from_utf8_lossy(&text).into_owned())
    });
    seen.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_shows_the_token_while_a_slow_clone_goes_on() {
    let server = closed_server().await;
    server.behave(ServerBehavior::WithoutPacks);
    let machine = Machine::new();
    let repository = repository(&machine, &server.url("kb.git"), SECRET);
    let refresh = tokio::spawn(async move { repository.refresh().await });
    let mut seen = HashMap::new();
    let until = Instant::now() + Duration::from_secs(30);
    // Until the server got the token, and a while longer: the askpass process is short-lived.
    let mut received = None;
    while received.is_none_or(|received: Instant| received.elapsed() < Duration::from_millis(200)) {
        assert!(Instant::now() < until, "the server never received the token: {seen:?}");
        seen.extend(processes_below(std::process::id()));
        if received.is_none() && server.passwords().contains(&SECRET.to_owned()) {
            received = Some(Instant::now());
        }
        tokio::task::yield_now().await;
    }
    let of_clone =
        seen.values().filter(|text| text.contains("git-remote-http") || text.contains("remote-http"));
    assert!(of_clone.count() > 0, "{seen:?}");
    for text in seen.values() {
        assert!(!text.contains(SECRET), "{text}");
    }
    // Git's children get a file descriptor and the server.
    assert!(
        seen.values()
            .any(|text| text.contains(&format!(" {}", server.origin())) && text.contains("LYCEUM_ASKPASS="))
    );
    refresh.abort();
}

#[tokio::test]
async fn a_token_is_not_sent_to_the_server_that_a_repository_moved_to() {
    let (server, other) = (closed_server().await, closed_server().await);
    server.move_repository("kb.git", &other.url("kb.git"));
    let machine = Machine::new();
    let error = repository(&machine, &server.url("kb.git"), SECRET).refresh().await.unwrap_err();
    let (shown, all) = texts(&error);
    assert!(matches!(error, Error::Git { fault: Fault::Redirected, .. }), "{all}");
    assert!(shown.contains("configure the new URL"), "{shown}");
    assert!(
        other.requests() > 0 && other.passwords().is_empty(),
        "the token was forwarded: {:?}",
        other.passwords()
    );
}

#[tokio::test]
async fn a_token_goes_along_when_a_repository_moved_on_its_server() {
    let server = closed_server().await;
    server.move_repository("old.git", &server.url("kb.git"));
    let machine = Machine::new();
    let repository = repository(&machine, &server.url("old.git"), SECRET);
    assert_eq!(read(&repository.refresh().await.unwrap(), "a.md"), "one");
}

#[test]
fn tokens_are_one_line() {
    assert!(Secret::new("  abc\n").is_ok_and(|token| token == Secret::new("abc").unwrap()));
    for text in ["", "  ", "a\nb", "a\u{0}b"] {
        assert!(Secret::new(text).is_err(), "{text:?}");
    }
}
