//! The processes of a run, and their end.
//!
//! The supervisor is their "subreaper": a process whose parent ended becomes its child, also after `setsid` or a double
//! fork. So whatever a script starts can be found below the supervisor.

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

/// How many processes are looked at.
const MAX_PROCESSES: usize = 16_384;

/// How long the supervisor waits for one of its children before it looks for new ones.
const REAP_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Whether this system says which children a process has.
pub(super) fn is_known() -> bool {
    let me = getpid().as_raw_pid();
    fs::exists(format!("/proc/self/task/{me}/children")).unwrap_or(false)
}

/// All processes below this one, each after the one that started it.
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

/// Sends a signal to all processes below this one, to each before those that it started: a shell that heard of the end of
/// its command first would go on with the next.
pub(super) fn signal_descendants(root: Pid, signal: Signal) {
    let hold = |pid: &Pid| Some((*pid, pidfd_open(*pid, PidfdFlags::empty()).ok()?));
    let held: Vec<(Pid, OwnedFd)> = descendants(root).iter().filter_map(hold).collect();
    // A number may have passed to a stranger before it was held. Then it is not below the root any more.
    let still: HashSet<Pid> = descendants(root).into_iter().collect();
    for (_, process) in held.iter().filter(|(pid, _)| still.contains(pid)) {
        let _gone_already = pidfd_send_signal(process, signal);
    }
}

/// Kills all processes below this one until none is left. Says whether none is.
pub(super) fn end_all(patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        // Numbers of our own children can't pass to strangers: only we can wait for them.
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
            ReapResult::SomeLive if Instant::now() < until => {}
            ReapResult::SomeLive => return false,
        }
    }
}

enum ReapResult {
    All,
    SomeLive,
}

/// Takes leave of every child that has ended.
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
