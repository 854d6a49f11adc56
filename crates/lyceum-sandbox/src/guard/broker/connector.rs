//! The connector: a process that executes the calls that the supervisor has permitted, and returns their results
//! to the script.
//!
//! It is this program, executed again, with the channel as its standard output. It is never in the namespaces of
//! the run, exits with its supervisor, and the supervisor never waits for it.

use std::{
    env,
    io::{self, Write as _},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Command, ExitCode, Stdio},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    process::{Signal, set_parent_process_death_signal},
};

use super::{
    super::{ORDER_TIMEOUT, raw},
    handover::{self, Handover},
    respond,
    task::Task,
};
use crate::wire::{Message, frame};

/// Maximum number of pending calls; more than a script has threads.
const MAX_PENDING_CALLS: usize = 128;

/// Interval for dropping calls whose callers are gone.
const TICK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The supervisor's end of the channel to the connector.
pub(in crate::guard) struct Connector {
    channel: OwnedFd,
}

impl Connector {
    /// Starts the process as a child; it is killed with all others of the run.
    pub(in crate::guard) fn start() -> io::Result<Self> {
        let (channel, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let (mut control, stdin) = UnixStream::pair()?;
        let _child = Command::new("/proc/self/exe")
            .args(env::args_os().skip(1))
            .env_clear()
            .stdin(OwnedFd::from(stdin))
            .stdout(theirs)
            .stderr(Stdio::null())
            .spawn()?;
        control.set_write_timeout(Some(ORDER_TIMEOUT))?;
        control.write_all(&frame(&Message::Connect)?)?;
        Ok(Self { channel })
    }

    pub(super) fn channel(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    /// Sends the listener descriptor that it responds with.
    pub(super) fn begin(&self, listener: &OwnedFd) -> io::Result<()> {
        Ok(handover::send(&self.channel, &[0], listener)?)
    }

    /// Hands over a call; fails with `EAGAIN` if the channel is full.
    pub(super) fn hand_over(&self, handover: &Handover) -> Result<(), Errno> {
        handover::send(&self.channel, &handover.pack(), &handover.socket)
    }
}

/// Runs the connector until the supervisor closes the channel.
pub(in crate::guard) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_supervisor_gone) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let channel = io::stdout().as_fd().try_clone_to_owned()?;
    let mut listener = None;
    let mut tasks: Vec<Task> = Vec::new();
    loop {
        let has_packet = wait(&channel, &tasks);
        if let Some(listener) = &listener {
            tasks.retain_mut(|task| !is_done(listener, task));
        }
        if !has_packet {
            continue;
        }
        let packet = match handover::receive(&channel) {
            Ok(Some(packet)) => packet,
            Ok(None) => return Ok(()),
            Err(Errno::AGAIN | Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        };
        match &listener {
            None => listener = Some(packet.descriptor),
            Some(listener) => {
                if let Some(handover) = Handover::unpack(packet) {
                    tasks.extend(start_task(listener, handover, tasks.len()));
                }
            }
        }
    }
}

/// Waits for a packet or a ready socket; returns whether there is a packet.
fn wait(channel: &OwnedFd, tasks: &[Task]) -> bool {
    let mut fds = vec![PollFd::new(channel, PollFlags::IN)];
    fds.extend(tasks.iter().map(|task| PollFd::new(&task.socket, PollFlags::OUT)));
    let _interrupted = poll(&mut fds, Some(&TICK));
    fds.first().is_some_and(|fd| !fd.revents().is_empty())
}

/// Starts a call; `None` if it completed at once.
fn start_task(listener: &OwnedFd, handover: Handover, waiting: usize) -> Option<Task> {
    let call = handover.call;
    let result = match Task::new(handover) {
        Ok(mut task) => match task.attempt() {
            None if waiting < MAX_PENDING_CALLS => return Some(task),
            None => Err(Errno::AGAIN),
            Some(result) => result,
        },
        Err(errno) => Err(errno),
    };
    respond(listener, call, result);
    None
}

/// Continues a call; returns whether it is complete or its caller is gone.
fn is_done(listener: &OwnedFd, task: &mut Task) -> bool {
    if !raw::is_pending(listener, task.call) {
        return true;
    }
    let Some(result) = task.attempt() else { return false };
    task.restore();
    respond(listener, task.call, result);
    true
}
