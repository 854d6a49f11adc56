//! Watching one run: its end, its time, what it uses, and whether the server is still there.

use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, waitpid},
};

use super::{
    super::{
        Fault, broker::Broker, cgroup::Group, confine::code, doing, tree::signal_descendants, usage::Usage,
    },
    words::{Line, Words},
};
use crate::{Level, Limits, Stopped, wire::Word};

/// How long the confinement may take.
const SETUP: Duration = Duration::from_secs(10);

/// How long it is at least until what the run uses is looked at again.
const LOOK: Duration = Duration::from_millis(50);

/// How much longer the pause is than the look: looking may take a fifth of a processor, not more.
const REST: u32 = 4;

/// Later than any script ends.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What a stopped script's exit code is, whatever it made of the signal: that of SIGKILL.
const STOPPED: u8 = 137;

/// How a run ended.
pub(super) enum Outcome {
    Refused(String),
    NoNetwork(String),
    NotStarted(String),
    /// The server is gone, or wants no answer any more.
    Abandoned,
    Ended {
        code: u8,
        stopped: Option<Stopped>,
        since: Instant,
    },
}

/// A run under watch.
pub(super) struct Vigil<'a> {
    pub control: &'a UnixStream,
    pub words: Words,
    /// The process that confined itself.
    pub root: Pid,
    pub level: Level,
    pub limits: &'a Limits,
    /// What is looked at, if anything is limited.
    pub usage: Option<Usage>,
    /// What limits its memory, where the kernel does.
    pub group: Option<&'a Group>,
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
struct News {
    hung_up: bool,
    ended: bool,
    /// A call of the script waits for its answer.
    call_waits: bool,
}

impl Vigil<'_> {
    /// Watches until the script has ended or must be ended. Then processes of it may still be there.
    pub(super) fn keep(mut self) -> Result<Outcome, Fault> {
        let process =
            pidfd_open(self.root, PidfdFlags::empty()).map_err(doing("could not watch the script"))?;
        let (mut phase, mut until) = (Phase::Setup, Instant::now() + SETUP);
        let mut exit_code = None;
        let mut look = LOOK;
        loop {
            let news = self.wait(&process, until, look);
            if news.hung_up {
                return Ok(Outcome::Abandoned);
            }
            if let Some(broker) = &mut self.broker {
                broker.go_on();
                if news.call_waits {
                    broker.take_call();
                }
            }
            for line in self.words.read() {
                match (line, phase) {
                    (Line::Word(Word::Listening(listener)), Phase::Setup) => {
                        if let Err(error) = self.take_over(&process, listener) {
                            return Ok(Outcome::NoNetwork(error));
                        }
                    }
                    (Line::Word(Word::Listening(_)), _) => {}
                    (Line::Word(Word::NoNetwork(reason)), _) => return Ok(Outcome::NoNetwork(reason)),
                    (Line::Word(Word::Started) | Line::FirstProcess, Phase::Setup) => {
                        let since = Instant::now();
                        (phase, until) = (Phase::Running { since }, after(since, self.limits.timeout));
                    }
                    (Line::Word(Word::Started) | Line::FirstProcess, _) => {}
                    (Line::Word(Word::Refused(reason)), _) => return Ok(Outcome::Refused(reason)),
                    (Line::Word(Word::NotStarted(reason)), _) => return Ok(Outcome::NotStarted(reason)),
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
                Phase::Ending { since } if late => return Ok(stopped(Stopped::Timeout, since)),
                Phase::Running { since } if late => {
                    signal_descendants(self.root, Signal::TERM);
                    (phase, until) = (Phase::Ending { since }, after(Instant::now(), self.limits.grace));
                }
                Phase::Running { since } | Phase::Ending { since } => {
                    let begun = Instant::now();
                    if let Some(reason) = self.usage.as_ref().and_then(|usage| usage.over(self.root)) {
                        return Ok(stopped(reason, since));
                    }
                    look = LOOK.max(begun.elapsed() * REST);
                }
            }
        }
    }

    /// Waits for news, but not for longer than it is until the next look.
    fn wait(&self, process: &OwnedFd, until: Instant, look: Duration) -> News {
        let mut fds = vec![PollFd::new(self.control, PollFlags::IN), PollFd::new(process, PollFlags::IN)];
        if !self.words.at_end {
            fds.push(PollFd::new(self.words.stream(), PollFlags::IN));
        }
        let calls = fds.len();
        if let Some(broker) = &self.broker {
            fds.push(PollFd::from_borrowed_fd(broker.listener(), PollFlags::IN));
            fds.extend(broker.sockets().map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::OUT)));
        }
        let _interrupted = poll(&mut fds, Some(&self.pause(until, look)));
        let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let call_waits = fds.get(calls).is_some_and(|fd| fd.revents().contains(PollFlags::IN));
        News { hung_up: ready(0), ended: ready(1), call_waits }
    }

    /// Takes over the calls that the confined process hands over, and lets it go on.
    fn take_over(&mut self, process: &OwnedFd, listener: i32) -> Result<(), Fault> {
        let failed = "the supervisor may not take over connections; where the server is root it needs the capability \
                      SYS_PTRACE";
        self.broker = Some(Broker::take_over(process, listener).map_err(doing(failed))?);
        self.words.acknowledge().map_err(doing("the script is gone"))
    }

    /// How long to wait for news.
    fn pause(&self, until: Instant, look: Duration) -> Timespec {
        let left = until.saturating_duration_since(Instant::now());
        let pause = if self.usage.is_some() { left.min(look) } else { left };
        Timespec::try_from(pause).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
    }

    /// The process that confined itself has ended, and so has the script.
    fn ended(&self, phase: Phase, exit_code: Option<u8>) -> Outcome {
        let status = waitpid(Some(self.root), WaitOptions::empty());
        let own_code = status.ok().flatten().map_or(STOPPED, |(_, status)| code(status));
        let out_of_memory = self.group.is_some_and(Group::was_out_of_memory);
        match (phase, self.level, exit_code) {
            (Phase::Running { since } | Phase::Ending { since }, _, _) if out_of_memory => {
                stopped(Stopped::Memory, since)
            }
            (Phase::Setup, _, _) => Outcome::Refused("its first process ended at once".to_owned()),
            (Phase::Ending { since }, _, _) => stopped(Stopped::Timeout, since),
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
    since.checked_add(duration).unwrap_or_else(|| since + FOR_EVER)
}

fn stopped(reason: Stopped, since: Instant) -> Outcome {
    Outcome::Ended { code: STOPPED, stopped: Some(reason), since }
}
