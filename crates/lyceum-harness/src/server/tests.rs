//! Tests of reading the log and the memory of a server.

use std::process::Command;

use super::{Server, listening, resident};
use crate::scratch::Scratch;

#[track_caller]
fn check(log: &str, expected: Option<&str>) {
    assert_eq!(listening(log).map(|addr| addr.to_string()).as_deref(), expected, "{log}");
}

#[test]
fn the_address_is_found_in_both_shapes_of_log_line() {
    check(r#"{"message":"listening","addr":"127.0.0.1:34567"}"#, Some("127.0.0.1:34567"));
    check(r#"{"level":"INFO","fields":{"message":"listening","addr":"[::1]:80"}}"#, Some("[::1]:80"));
    check("warming up\n{\"message\":\"listening\",\"addr\":\"127.0.0.1:1\"}\n", Some("127.0.0.1:1"));
}

#[test]
fn a_line_that_is_not_whole_or_not_ours_is_passed_over() {
    check(r#"{"message":"listening","addr":"127.0.0.1:345"#, None);
    check(r#"{"message":"stopped","addr":"127.0.0.1:34567"}"#, None);
    check(r#"{"message":"listening"}"#, None);
    check("", None);
}

#[test]
fn resident_memory_is_read_in_kib() {
    assert_eq!(resident("Name:\tlyceum\nVmRSS:\t   15360 kB\nThreads:\t3\n"), Some(15360));
    assert_eq!(resident("Name:\tzombie\n"), None);
}

fn start(script: &str) -> anyhow::Result<Server> {
    let scratch = Scratch::new()?;
    Server::start(Command::new("sh").args(["-c", script]), &scratch.path().join("log"))
}

#[test]
fn a_server_is_found_by_its_log_line() {
    let server = start(r#"echo '{"message":"listening","addr":"127.0.0.1:9"}' >&2; sleep 600"#).unwrap();
    assert_eq!(server.mcp_url(), "http://127.0.0.1:9/mcp");
}

#[test]
fn a_server_that_ends_at_once_is_reported_with_its_log() {
    let error = start("echo port is taken >&2; exit 2").err().unwrap().to_string();
    assert!(error.starts_with("the server ended at once (exit status: 2)"), "{error}");
    assert!(error.ends_with("port is taken\n"), "{error}");
}
