//! Tests of the process tree.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{descendants, parent};
use crate::process::Running;

#[test]
fn a_name_with_brackets_and_spaces_does_not_hide_the_parent() {
    assert_eq!(parent("12 (a) b (c)) S 7 12 12 0"), Some(7));
    assert_eq!(parent("12 (node) R 1 12"), Some(1));
    assert_eq!(parent("garbage"), None);
}

#[cfg(target_os = "linux")]
#[test]
fn ending_a_child_ends_its_grandchildren() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & wait"]);
    let child = Running::start(&mut command, Stdio::null(), Stdio::null()).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    let grandchild = loop {
        if let Some(&id) = descendants(child.id()).first() {
            break id;
        }
        assert!(Instant::now() < until, "the shell never started its own child");
        std::thread::yield_now();
    };
    drop(child);
    let stat = || std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
    // A killed orphan may stay listed as a zombie until its new parent reaps it.
    while !stat().is_empty() && !stat().contains(") Z ") {
        assert!(Instant::now() < until, "the grandchild is still there");
        std::thread::yield_now();
    }
}
