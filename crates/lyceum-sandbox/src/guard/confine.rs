//! The process that confines itself, starts the script and waits for it.
//!
//! Everything here comes before the script, and what fails ends the run: there is no way on with a layer less. Where
//! the run has a process namespace, this is its first process, so that its end is the end of all others.

use std::{
    env,
    fs::File,
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener},
    os::{fd::AsRawFd as _, unix::net::UnixStream},
    process::{Command, ExitCode, Stdio},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{AddressFamily, SocketType, socket},
    process::{
        Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, set_parent_process_death_signal,
        setsid, wait,
    },
    thread::{UnshareFlags, capabilities},
};

use super::{
    Fault, broker, bubblewrap, doing,
    file_rights::{self, CoveredRights},
    raw, rlimits, system_calls, user,
};
use crate::{
    Network,
    wire::{ChildMessage, Confinement, Mechanism, Rights, User},
};

/// Why a public network can't be had, on a kernel that is too old or refuses it.
pub(super) const OLD_KERNEL: &str = "this kernel does not hand connections to the supervisor (seccomp user notification and \
                                     pidfd_getfd, Linux 5.9 or later)";

/// Confines, starts and waits. The exit code is the script's.
pub(super) fn main(mut control: UnixStream, confinement: &Confinement) -> ExitCode {
    match run(&mut control, confinement) {
        Ok(code) => ExitCode::from(code),
        Err(word) => {
            let _supervisor_gone = send(&mut control, &word);
            ExitCode::FAILURE
        }
    }
}

fn run(control: &mut UnixStream, confinement: &Confinement) -> Result<u8, ChildMessage> {
    prepare(control, confinement).map_err(ChildMessage::Refused)?;
    match confinement.means {
        Mechanism::None => {}
        Mechanism::Standard { namespaces, rights } => {
            let covered = restrict(confinement, namespaces, rights).map_err(ChildMessage::Refused)?;
            hand_over_calls(control, confinement.network)?;
            filter(confinement, namespaces, covered).map_err(ChildMessage::Refused)?;
        }
        Mechanism::Strict { ref bwrap } => {
            return Err(bubblewrap::become_it(bwrap, control, confinement));
        }
    }
    let script = start(confinement).map_err(ChildMessage::NotStarted)?;
    // Nobody is left to hear it if this fails, and the signal of the parent's death is on its way.
    let _supervisor_gone = send(control, &ChildMessage::Started);
    wait_for(script).map_err(|error| ChildMessage::Refused(error.to_string()))
}

/// What every level has: a session of its own, an end with its supervisor, and where the script starts.
fn prepare(control: &UnixStream, confinement: &Confinement) -> Result<(), Fault> {
    let failed = "could not leave the server's session";
    setsid().map_err(doing(failed))?;
    set_child_subreaper(Some(getpid())).map_err(doing(failed))?;
    if confinement.means != Mechanism::None {
        user::become_user(confinement.user)?;
    }
    // After the change of the user, which takes this back.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(doing(failed))?;
    let mut ends = [PollFd::new(control, PollFlags::empty())];
    if poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|gone| gone > 0) {
        return Err("the supervisor is gone".to_owned());
    }
    if confinement.means == Mechanism::None {
        let failed = format!("could not enter {}", confinement.cwd.display());
        return env::set_current_dir(&confinement.cwd).map_err(doing(&failed));
    }
    let failed =
        "the script's user can't enter the folder of the run; every folder above it must be open to others";
    env::set_current_dir(&confinement.cwd).map_err(doing(failed))?;
    rlimits::set(confinement)
}

/// Lets the supervisor answer the calls that name an address, where the network is public. It has the descriptor before
/// anything else happens, so that no script runs without it.
pub(super) fn hand_over_calls(control: &mut UnixStream, network: Network) -> Result<(), ChildMessage> {
    if network != Network::Public {
        return Ok(());
    }
    let listener = broker::listen().map_err(doing(OLD_KERNEL)).map_err(ChildMessage::NoNetwork)?;
    let failed = "the supervisor did not answer";
    send(control, &ChildMessage::Listening(listener.as_raw_fd()))
        .map_err(doing(failed))
        .map_err(ChildMessage::NoNetwork)?;
    control.read_exact(&mut [0]).map_err(doing(failed)).map_err(ChildMessage::NoNetwork)
}

/// The layers of the standard level that come before the filter of system calls.
fn restrict(confinement: &Confinement, namespaces: bool, rights: Rights) -> Result<CoveredRights, Fault> {
    if namespaces && getpid().as_raw_pid() != 1 {
        return Err("the process namespace is missing".to_owned());
    }
    file_rights::restrict(confinement, rights)
}

/// The filter of system calls, and a look at what holds now.
fn filter(confinement: &Confinement, namespaces: bool, covered: CoveredRights) -> Result<(), Fault> {
    // Whether the server, or another script, runs as the same user and is in sight.
    let shared = !namespaces && matches!(confinement.user, User::Same | User::Other(user::NOBODY));
    system_calls::restrict(system_calls::Plan {
        network: confinement.network,
        guard_metadata: shared,
        guard_truncation: !covered.truncation,
        guard_signals: shared && !covered.signals,
    })?;
    verify(confinement.network)
}

/// Tries a few things that must fail now.
fn verify(network: Network) -> Result<(), Fault> {
    let worked = |what: &str| Err(format!("the sandbox does not hold: {what}"));
    if !capabilities(None).is_ok_and(|sets| sets.effective.is_empty() && sets.permitted.is_empty()) {
        return worked("the script would have capabilities");
    }
    if File::open("/proc/self/environ").is_ok() {
        return worked("a file of the system can be read");
    }
    if socket(AddressFamily::UNIX, SocketType::STREAM, None).is_ok() {
        return worked("a UNIX socket can be made");
    }
    if network == Network::None && socket(AddressFamily::INET, SocketType::DGRAM, None).is_ok() {
        return worked("a network socket can be made");
    }
    if network == Network::Public && TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).is_ok() {
        return worked("a port can be offered");
    }
    if raw::unshare(UnshareFlags::NEWUSER).is_ok() {
        return worked("a namespace can be made");
    }
    Ok(())
}

/// Starts the script, with nothing in its environment but what it was given.
fn start(confinement: &Confinement) -> Result<Pid, Fault> {
    let mut command = Command::new(&confinement.program);
    command.args(&confinement.args).env_clear().envs(confinement.env.iter().cloned()).stdin(Stdio::null());
    let address_space = (confinement.means != Mechanism::None).then(|| rlimits::address_space(confinement));
    raw::end_with_parent(&mut command, address_space);
    let failed = format!("{} does not start", confinement.program.display());
    let child = command.spawn().map_err(doing(&failed))?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(failed)
}

/// Waits for the script, and takes leave of everything else that ends before it.
fn wait_for(script: Pid) -> io::Result<u8> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == script => return Ok(code(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The exit code, as a shell would say it.
pub(super) fn code(status: WaitStatus) -> u8 {
    let signal = || status.terminating_signal().map(|signal| signal.saturating_add(128));
    status.exit_status().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// One line to the supervisor.
fn send(control: &mut UnixStream, word: &ChildMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    control.write_all(&line)
}
