//! The process tree of a run, and killing it.
//!
//! The supervisor is a subreaper: an orphaned process becomes its child, even after `setsid` or a double fork. So
//! every process that a script starts is a descendant of the supervisor.

use std::{
    collections::{HashSet, VecDeque},
    fs,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, wait,
    },
};

/// Maximum number of processes to look at.
const MAX_PROCESSES: usize = 16_384;

/// How long to wait for a child before looking for new ones.
const REAP_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Whether the kernel lists the children of a process.
pub(super) fn is_supported() -> bool {
    let me = getpid().as_raw_pid();
    fs::exists(format!("/proc/self/task/{me}/children")).unwrap_or(false)
}

/// All descendants of a process, parents first.
pub(super) fn descendants(root: Pid) -> Vec<Pid> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut open = VecDeque::from([root]);
    while let Some(parent) = open.pop_front() {
        for child in children(parent) {
            if found.len() < MAX_PROCESSES && seen.insert(child) {
                found.push(child);
                open.push_back(child);
            }
        }
    }
    found
}

/// Signals all descendants, parents first: a shell that sees its command end first would continue with the next.
pub(super) fn signal_descendants(root: Pid, signal: Signal) {
    let open_pidfd = |pid: &Pid| Some((*pid, pidfd_open(*pid, PidfdFlags::empty()).ok()?));
    let processes: Vec<(Pid, OwnedFd)> = descendants(root).iter().filter_map(open_pidfd).collect();
    // A pid may have been reused before its pidfd was opened. Then it is no longer a descendant.
    let still: HashSet<Pid> = descendants(root).into_iter().collect();
    for (_, process) in processes.iter().filter(|(pid, _)| still.contains(pid)) {
        let _gone_already = pidfd_send_signal(process, signal);
    }
}

/// Kills all descendants until none is left; returns whether that succeeded.
pub(super) fn kill_all(timeout: Duration) -> bool {
    let deadline = Instant::now() + timeout;
    loop {
        // Pids of our own children can't be reused: only we reap them.
        let children = children(getpid());
        for child in &children {
            let _gone_already = kill_process(*child, Signal::KILL);
        }
        if let Some(child) = children.first()
            && let Ok(process) = pidfd_open(*child, PidfdFlags::empty())
        {
            let _at_most_a_pause = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&REAP_TIMEOUT));
        }
        match reap() {
            ReapResult::All => return true,
            ReapResult::SomeLive if Instant::now() < deadline => {}
            ReapResult::SomeLive => return false,
        }
    }
}

enum ReapResult {
    All,
    SomeLive,
}

/// Reaps all exited children.
fn reap() -> ReapResult {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return ReapResult::SomeLive,
            Err(_no_child) => return ReapResult::All,
        }
    }
}

fn children(parent: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", parent.as_raw_pid())) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids = |list: String| -> Vec<Pid> {
        list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
    };
    lists.flat_map(pids).collect()
}
