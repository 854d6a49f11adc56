//! A process of git together with those that it starts.

use std::fs;

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process_group, test_kill_process_group},
};

/// A process group that ends with the future that waits for it, unless git came to its own end.
pub(super) struct Group(Option<Pid>);

impl Group {
    /// The group that this process leads.
    pub(super) fn new(leader: Option<Pid>) -> Self {
        Self(leader)
    }

    /// Ends all of its processes.
    pub(super) fn end(&mut self) {
        if let Some(leader) = self.0.take() {
            let _is_gone = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Lets it be.
    pub(super) fn leave(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a process of the group is still at work. Those that ended count no more, even where nobody takes note of
/// their end, as in a container without an init.
pub(crate) fn is_at_work(group: Pid) -> bool {
    if test_kill_process_group(group) == Err(Errno::SRCH) {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let stats =
        processes.flatten().filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    let mut known = false;
    for stat in stats {
        known = true;
        // The name, which can hold anything, is in brackets; the state, the parent and the group follow it.
        let mut fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        let (state, in_group) = (fields.next(), fields.nth(1).and_then(|text| text.parse().ok()));
        if in_group == Some(group.as_raw_nonzero().get()) && !matches!(state, Some("Z" | "X")) {
            return true;
        }
    }
    // Without such files, the first answer counts.
    !known
}
