//! The descendants of a process, from `/proc`; empty on systems without it.

use std::fs;
use std::process::{Command, Stdio};

/// All children of `root`, their children, and so on.
pub(super) fn descendants(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = all_processes().collect();
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id));
        next += 1;
    }
    family.split_off(1)
}

/// Kills these processes.
pub(super) fn kill(ids: &[u32]) {
    if ids.is_empty() {
        return;
    }
    // Uses the built-in `kill` of the shell: small images have no such program.
    let ids = ids.iter().map(u32::to_string);
    let mut command = Command::new("sh");
    command.args(["-c", r#"kill -KILL "$@""#, "sh"]).args(ids);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// Pairs of a process and its parent.
fn all_processes() -> impl Iterator<Item = (u32, u32)> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((id, parent(&stat)?))
    })
}

/// Parses the parent in a line of `/proc/ID/stat`: `ID (name) STATE PARENT …`, where a name may contain anything.
fn parent(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests;
