//! Tests of running child processes.

use std::process::Command;
use std::time::{Duration, Instant};

use super::{command_line, output, run};
use crate::scratch::Scratch;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn both_outputs_and_the_status_are_kept() {
    let scratch = Scratch::new().unwrap();
    let finished =
        run(&mut shell("echo out; echo err >&2; exit 3"), scratch.path(), Duration::from_secs(10)).unwrap();
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!(finished.status.code(), Some(3));
}

#[test]
fn a_failure_shows_the_command_and_its_output() {
    let scratch = Scratch::new().unwrap();
    let error = output(&mut shell("echo no such tool >&2; exit 1"), scratch.path(), Duration::from_secs(10))
        .unwrap_err();
    assert_eq!(error.to_string(), "exit status: 1: `sh -c 'echo no such tool >&2; exit 1'`\nno such tool\n");
}

#[test]
fn a_command_past_its_limit_is_ended_though_its_child_keeps_the_output_open() {
    let scratch = Scratch::new().unwrap();
    let started = Instant::now();
    let error = run(&mut shell("echo half; sleep 600 & wait"), scratch.path(), Duration::from_millis(300))
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("timed out after 300ms: `sh -c"), "{error}");
    assert!(error.to_string().ends_with("half\n"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_command_line_can_be_pasted_into_a_shell() {
    let mut command = Command::new("npx");
    command.args(["--url", "http://127.0.0.1:1/mcp", "{\"a\": 1}", "it's", ""]);
    assert_eq!(command_line(&command), r#"npx --url http://127.0.0.1:1/mcp '{"a": 1}' 'it'\''s' ''"#);
}
