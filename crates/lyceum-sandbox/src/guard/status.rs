//! What `/proc/PID/status` says of a process.

use std::fs;

use rustix::process::Pid;

/// The whole text; nothing if there is no such process any more.
pub(super) fn read(pid: Pid) -> String {
    fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid())).unwrap_or_default()
}

/// The first number of a line; `name` ends with its colon.
pub(super) fn number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
