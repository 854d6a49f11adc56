//! Parses `/proc/PID/status`.

use std::fs;

use rustix::process::Pid;

/// Reads the file; empty if the process is gone.
pub(super) fn read(pid: Pid) -> String {
    fs::read_to_string(format!("/proc/{}/status", pid.as_raw_pid())).unwrap_or_default()
}

/// First number of a line; `name` includes the colon.
pub(super) fn number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
