//! Watching one run: its end, its time, what it uses, and whether the server is still there.

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
        doing,
        tree::signal_descendants,
        usage::Usage,
    },
    line_reader::{Line, LineReader},
};
use crate::{Level, Limits, StopReason, wire::ChildMessage};

/// How long the confinement may take.
const SETUP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it is at least until what the run uses is looked at again.
const USAGE_INTERVAL: Duration = Duration::from_millis(50);

/// How much longer the pause is than the look: looking may take a fifth of a processor, not more.
const USAGE_PAUSE_FACTOR: u32 = 4;

/// Later than any script ends.
const NO_TIMEOUT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What a stopped script's exit code is, whatever it made of the signal: that of SIGKILL.
const SIGKILL_EXIT_CODE: u8 = 137;

/// How a run ended.
pub(super) enum Outcome {
    Refused(String),
    NoNetwork(String),
    NotStarted(String),
    /// The server is gone, or wants no answer any more.
    Abandoned,
    Ended {
        code: u8,
        stopped: Option<StopReason>,
        since: Instant,
    },
}

/// A run under watch.
pub(super) struct RunMonitor<'a> {
    pub control: &'a UnixStream,
    pub words: LineReader,
    /// The process that confined itself.
    pub root: Pid,
    pub level: Level,
    pub limits: &'a Limits,
    /// What is looked at, if anything is limited.
    pub usage: Option<Usage>,
    /// What limits its memory, where the kernel does.
    pub group: Option<&'a Group>,
    /// What executes its calls, until the broker has it.
    pub connector: Option<Connector>,
    /// What answers its calls, once it has handed them over.
    pub broker: Option<Broker>,
}

/// Where the run is.
#[derive(Clone, Copy)]
enum Phase {
    Setup,
    Running {
        since: Instant,
    },
    /// It was asked to end.
    Ending {
        since: Instant,
    },
}

/// What can be ready.
struct ReadyEvents {
    hung_up: bool,
    ended: bool,
    /// The broker can go on.
    broker_ready: bool,
}

impl RunMonitor<'_> {
    /// Watches until the script has ended or must be ended. Then processes of it may still be there.
    pub(super) fn run(mut self) -> Result<Outcome, Fault> {
        let process =
            pidfd_open(self.root, PidfdFlags::empty()).map_err(doing("could not watch the script"))?;
        let (mut phase, mut until) = (Phase::Setup, Instant::now() + SETUP_TIMEOUT);
        let mut exit_code = None;
        // Nothing is looked at before the script has started.
        let mut next_look = until;
        loop {
            let news = self.wait(&process, until.min(next_look));
            if news.hung_up {
                return Ok(Outcome::Abandoned);
            }
            if let Some(broker) = self.broker.as_mut().filter(|_| news.broker_ready) {
                broker.go_on();
            }
            for line in self.words.read() {
                match (line, phase) {
                    (Line::Word(ChildMessage::Listening(listener)), Phase::Setup) => {
                        if let Err(error) = self.take_over(&process, listener) {
                            return Ok(Outcome::NoNetwork(error));
                        }
                    }
                    (Line::Word(ChildMessage::Listening(_)), _) => {}
                    (Line::Word(ChildMessage::NoNetwork(reason)), _) => {
                        return Ok(Outcome::NoNetwork(reason));
                    }
                    (Line::Word(ChildMessage::Started) | Line::FirstProcess, Phase::Setup) => {
                        let since = Instant::now();
                        (phase, until) = (Phase::Running { since }, after(since, self.limits.timeout));
                        next_look = if self.usage.is_some() { since } else { after(since, NO_TIMEOUT) };
                    }
                    (Line::Word(ChildMessage::Started) | Line::FirstProcess, _) => {}
                    (Line::Word(ChildMessage::Refused(reason)), _) => {
                        return Ok(Outcome::Refused(reason));
                    }
                    (Line::Word(ChildMessage::NotStarted(reason)), _) => {
                        return Ok(Outcome::NotStarted(reason));
                    }
                    (Line::ExitCode(code), _) => exit_code = Some(code),
                }
            }
            if news.ended {
                return Ok(self.ended(phase, exit_code));
            }
            let late = Instant::now() >= until;
            match phase {
                Phase::Setup if late => return Ok(Outcome::Refused("it was not ready in time".to_owned())),
                Phase::Setup => {}
                Phase::Ending { since } if late => return Ok(stopped(StopReason::Timeout, since)),
                Phase::Running { since } if late => {
                    signal_descendants(self.root, Signal::TERM);
                    (phase, until) = (Phase::Ending { since }, after(Instant::now(), self.limits.grace));
                }
                Phase::Running { since } | Phase::Ending { since } if Instant::now() >= next_look => {
                    let started = Instant::now();
                    if let Some(reason) = self.usage.as_ref().and_then(|usage| usage.exceeded(self.root)) {
                        return Ok(stopped(reason, since));
                    }
                    next_look = Instant::now() + USAGE_INTERVAL.max(started.elapsed() * USAGE_PAUSE_FACTOR);
                }
                Phase::Running { .. } | Phase::Ending { .. } => {}
            }
        }
    }

    /// Waits for news, but not for longer than until then.
    fn wait(&self, process: &OwnedFd, until: Instant) -> ReadyEvents {
        let mut fds = vec![PollFd::new(self.control, PollFlags::IN), PollFd::new(process, PollFlags::IN)];
        if !self.words.at_end {
            fds.push(PollFd::new(self.words.stream(), PollFlags::IN));
        }
        let at = fds.len();
        let awaited = self.broker.as_ref().map(Broker::awaited);
        fds.extend(awaited.map(|(fd, events)| PollFd::from_borrowed_fd(fd, events)));
        let left = until.saturating_duration_since(Instant::now());
        let pause = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let _interrupted = poll(&mut fds, Some(&pause));
        let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let broker_ready =
            fds.get(at).zip(awaited).is_some_and(|(fd, (_, events))| fd.revents().intersects(events));
        ReadyEvents { hung_up: ready(0), ended: ready(1), broker_ready }
    }

    /// Takes over the calls that the confined process hands over, and lets it go on.
    fn take_over(&mut self, process: &OwnedFd, listener: i32) -> Result<(), Fault> {
        let Some(connector) = self.connector.take() else {
            return Err("nothing connects for the script".to_owned());
        };
        let broker = Broker::take_over(process, listener, connector).map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => format!("{OLD_KERNEL}: {error}"),
            _ => format!(
                "the supervisor may not take over connections; where the server is root it needs the capability \
                 SYS_PTRACE: {error}"
            ),
        })?;
        self.broker = Some(broker);
        self.words.acknowledge().map_err(doing("the script is gone"))
    }

    /// The process that confined itself has ended, and so has the script.
    fn ended(&self, phase: Phase, exit_code: Option<u8>) -> Outcome {
        let status = waitpid(Some(self.root), WaitOptions::empty());
        let own_code = status.ok().flatten().map_or(SIGKILL_EXIT_CODE, |(_, status)| code(status));
        let out_of_memory = self.group.is_some_and(Group::was_out_of_memory);
        match (phase, self.level, exit_code) {
            (Phase::Running { since } | Phase::Ending { since }, _, _) if out_of_memory => {
                stopped(StopReason::Memory, since)
            }
            (Phase::Setup, _, _) => Outcome::Refused("its first process ended at once".to_owned()),
            (Phase::Ending { since }, _, _) => stopped(StopReason::Timeout, since),
            // Bubblewrap says so if it came to start the script; its own exit code could be of its own failure.
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
