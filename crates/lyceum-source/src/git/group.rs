//! The process group of git and its children.

use std::fs;

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process_group, test_kill_process_group},
};

/// A process group that is killed on drop, unless disarmed.
pub(super) struct Group(Option<Pid>);

impl Group {
    /// The group of a leader process.
    pub(super) fn new(leader: Option<Pid>) -> Self {
        Self(leader)
    }

    /// Kills all processes of the group.
    pub(super) fn kill(&mut self) {
        if let Some(leader) = self.0.take() {
            let _is_gone = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Prevents the kill on drop.
    pub(super) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether a process of the group is still running. Zombies don't count: in a container without an init nobody reaps
/// them.
pub(crate) fn is_running(group: Pid) -> bool {
    if test_kill_process_group(group) == Err(Errno::SRCH) {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let stats =
        processes.flatten().filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    let mut known = false;
    for stat in stats {
        known = true;
        // Fields after the parenthesized name, which can contain anything: state, parent, group.
        let mut fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        let (state, in_group) = (fields.next(), fields.nth(1).and_then(|text| text.parse().ok()));
        if in_group == Some(group.as_raw_nonzero().get()) && !matches!(state, Some("Z" | "X")) {
            return true;
        }
    }
    // Without /proc, trust the signal test.
    !known
}
