//! Monitors a run: exit, timeout, resource usage, and whether the server is still connected.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, waitpid},
};

use super::{
    super::{
        Fault,
        broker::{Broker, Connector},
        cgroup::Group,
        confine::{OLD_KERNEL, code},
        context,
        tree::signal_descendants,
        usage::Usage,
    },
    line_reader::{Line, LineReader},
};
use crate::{Level, Limits, StopReason, wire::ChildMessage};

/// Timeout for the confinement.
const SETUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Minimum interval between two checks of resource usage.
const USAGE_INTERVAL: Duration = Duration::from_millis(50);

/// The pause is this many times as long as the check: checks use at most a fifth of a CPU.
const USAGE_PAUSE_FACTOR: u32 = 4;

/// Effectively no timeout.
const NO_TIMEOUT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Exit code of a stopped script, however it handled the signal: that of SIGKILL.
const SIGKILL_EXIT_CODE: u8 = 137;

/// Outcome of a run.
pub(super) enum Outcome {
    Refused(String),
    NoNetwork(String),
    NotStarted(String),
    /// The server closed the connection.
    Abandoned,
    Ended {
        code: u8,
        stopped: Option<StopReason>,
        since: Instant,
    },
}

/// A monitored run.
pub(super) struct RunMonitor<'a> {
    pub control: &'a UnixStream,
    pub messages: LineReader,
    /// The confined child.
    pub root: Pid,
    pub level: Level,
    pub limits: &'a Limits,
    /// Usage to poll, if anything is limited that way.
    pub usage: Option<Usage>,
    /// Its cgroup, if any.
    pub group: Option<&'a Group>,
    /// Its connector, until the broker takes it.
    pub connector: Option<Connector>,
    /// Handles its intercepted calls, once it has handed over the listener.
    pub broker: Option<Broker>,
}

/// Phase of a run.
#[derive(Clone, Copy)]
enum Phase {
    Setup,
    Running {
        since: Instant,
    },
    /// SIGTERM was sent.
    Ending {
        since: Instant,
    },
}

/// Result of a poll.
struct ReadyEvents {
    disconnected: bool,
    exited: bool,
    /// The broker can proceed.
    broker_ready: bool,
}

impl RunMonitor<'_> {
    /// Monitors until the script has exited or must be killed. Some of its processes may still exist then.
    pub(super) fn run(mut self) -> Result<Outcome, Fault> {
        let process =
            pidfd_open(self.root, PidfdFlags::empty()).map_err(context("could not monitor the script"))?;
        let (mut phase, mut deadline) = (Phase::Setup, Instant::now() + SETUP_TIMEOUT);
        let mut exit_code = None;
        // Usage is not checked before the script has started.
        let mut next_check = deadline;
        loop {
            let events = self.wait(&process, deadline.min(next_check));
            if events.disconnected {
                return Ok(Outcome::Abandoned);
            }
            if let Some(broker) = self.broker.as_mut().filter(|_| events.broker_ready) {
                broker.proceed();
            }
            for line in self.messages.read() {
                match (line, phase) {
                    (Line::Message(ChildMessage::Listening(listener)), Phase::Setup) => {
                        if let Err(error) = self.take_over(&process, listener) {
                            return Ok(Outcome::NoNetwork(error));
                        }
                    }
                    (Line::Message(ChildMessage::Listening(_)), _) => {}
                    (Line::Message(ChildMessage::NoNetwork(reason)), _) => {
                        return Ok(Outcome::NoNetwork(reason));
                    }
                    (Line::Message(ChildMessage::Started) | Line::FirstProcess, Phase::Setup) => {
                        let since = Instant::now();
                        (phase, deadline) = (Phase::Running { since }, after(since, self.limits.timeout));
                        next_check = if self.usage.is_some() { since } else { after(since, NO_TIMEOUT) };
                    }
                    (Line::Message(ChildMessage::Started) | Line::FirstProcess, _) => {}
                    (Line::Message(ChildMessage::Refused(reason)), _) => {
                        return Ok(Outcome::Refused(reason));
                    }
                    (Line::Message(ChildMessage::NotStarted(reason)), _) => {
                        return Ok(Outcome::NotStarted(reason));
                    }
                    (Line::ExitCode(code), _) => exit_code = Some(code),
                }
            }
            if events.exited {
                return Ok(self.exited(phase, exit_code));
            }
            let late = Instant::now() >= deadline;
            match phase {
                Phase::Setup if late => return Ok(Outcome::Refused("the setup timed out".to_owned())),
                Phase::Setup => {}
                Phase::Ending { since } if late => return Ok(stopped(StopReason::Timeout, since)),
                Phase::Running { since } if late => {
                    signal_descendants(self.root, Signal::TERM);
                    (phase, deadline) = (Phase::Ending { since }, after(Instant::now(), self.limits.grace));
                }
                Phase::Running { since } | Phase::Ending { since } if Instant::now() >= next_check => {
                    let started = Instant::now();
                    if let Some(reason) = self.usage.as_ref().and_then(|usage| usage.exceeded(self.root)) {
                        return Ok(stopped(reason, since));
                    }
                    next_check = Instant::now() + USAGE_INTERVAL.max(started.elapsed() * USAGE_PAUSE_FACTOR);
                }
                Phase::Running { .. } | Phase::Ending { .. } => {}
            }
        }
    }

    /// Waits for events, at most until the deadline.
    fn wait(&self, process: &OwnedFd, deadline: Instant) -> ReadyEvents {
        let mut fds = vec![PollFd::new(self.control, PollFlags::IN), PollFd::new(process, PollFlags::IN)];
        if !self.messages.at_end {
            fds.push(PollFd::new(self.messages.stream(), PollFlags::IN));
        }
        let at = fds.len();
        let target = self.broker.as_ref().map(Broker::poll_target);
        fds.extend(target.map(|(fd, events)| PollFd::from_borrowed_fd(fd, events)));
        let left = deadline.saturating_duration_since(Instant::now());
        let pause = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let _interrupted = poll(&mut fds, Some(&pause));
        let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let broker_ready =
            fds.get(at).zip(target).is_some_and(|(fd, (_, flags))| fd.revents().intersects(flags));
        ReadyEvents { disconnected: ready(0), exited: ready(1), broker_ready }
    }

    /// Takes over the listener of the confined child, and lets it continue.
    fn take_over(&mut self, process: &OwnedFd, listener: i32) -> Result<(), Fault> {
        let Some(connector) = self.connector.take() else {
            return Err("the connector is missing".to_owned());
        };
        let broker = Broker::take_over(process, listener, connector).map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => format!("{OLD_KERNEL}: {error}"),
            _ => format!(
                "the supervisor can't take over the script's connections; a server that runs as root needs the capability \
                 SYS_PTRACE: {error}"
            ),
        })?;
        self.broker = Some(broker);
        self.messages.acknowledge().map_err(context("the confined process is gone"))
    }

    /// The confined child has exited, and so has the script.
    fn exited(&self, phase: Phase, exit_code: Option<u8>) -> Outcome {
        let status = waitpid(Some(self.root), WaitOptions::empty());
        let own_code = status.ok().flatten().map_or(SIGKILL_EXIT_CODE, |(_, status)| code(status));
        let out_of_memory = self.group.is_some_and(Group::was_out_of_memory);
        match (phase, self.level, exit_code) {
            (Phase::Running { since } | Phase::Ending { since }, _, _) if out_of_memory => {
                stopped(StopReason::Memory, since)
            }
            (Phase::Setup, _, _) => Outcome::Refused("the confined process exited during setup".to_owned()),
            (Phase::Ending { since }, _, _) => stopped(StopReason::Timeout, since),
            // Bubblewrap reports the exit code only if it started the script; its own exit code may be due to its
            // own failure.
            (Phase::Running { since }, Level::Strict, Some(code)) => {
                Outcome::Ended { code, stopped: None, since }
            }
            (Phase::Running { .. }, Level::Strict, None) => Outcome::Refused("bubblewrap failed".to_owned()),
            (Phase::Running { since }, Level::Standard | Level::None, _) => {
                Outcome::Ended { code: own_code, stopped: None, since }
            }
        }
    }
}

fn after(since: Instant, duration: Duration) -> Instant {
    since.checked_add(duration).unwrap_or_else(|| since + NO_TIMEOUT)
}

fn stopped(reason: StopReason, since: Instant) -> Outcome {
    Outcome::Ended { code: SIGKILL_EXIT_CODE, stopped: Some(reason), since }
}
