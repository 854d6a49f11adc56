//! The child that confines itself, starts the script and waits for it.
//!
//! Everything here happens before the script starts, and any failure ends the run: there is no fallback to fewer
//! layers. If the run has a PID namespace, this is its init process, so that all others end with it.

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
    Fault, broker, bubblewrap, context,
    file_rights::{self, CoveredRights},
    raw, rlimits, system_calls, user,
};
use crate::{
    Network,
    wire::{ChildMessage, Confinement, Mechanism, Rights, User},
};

/// Error on kernels that can't intercept connections.
pub(super) const OLD_KERNEL: &str = "this kernel can't intercept connections (needs seccomp user notification and \
                                     pidfd_getfd, Linux 5.9 or later)";

/// Confines itself, starts the script and waits for it. The exit code is the script's.
pub(super) fn main(mut control: UnixStream, confinement: &Confinement) -> ExitCode {
    match run(&mut control, confinement) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            let _supervisor_gone = send(&mut control, &message);
            ExitCode::FAILURE
        }
    }
}

fn run(control: &mut UnixStream, confinement: &Confinement) -> Result<u8, ChildMessage> {
    prepare(control, confinement).map_err(ChildMessage::Refused)?;
    match confinement.mechanism {
        Mechanism::None => {}
        Mechanism::Standard { namespaces, rights } => {
            let covered = restrict(confinement, namespaces, rights).map_err(ChildMessage::Refused)?;
            intercept_calls(control, confinement.network)?;
            filter(confinement, namespaces, covered).map_err(ChildMessage::Refused)?;
        }
        Mechanism::Strict { ref bwrap } => {
            return Err(bubblewrap::exec(bwrap, control, confinement));
        }
    }
    let script = start(confinement).map_err(ChildMessage::NotStarted)?;
    // If this fails, the supervisor is gone and the parent death signal is on its way.
    let _supervisor_gone = send(control, &ChildMessage::Started);
    wait_for(script).map_err(|error| ChildMessage::Refused(error.to_string()))
}

/// Common to all levels: own session, parent death signal, working directory.
fn prepare(control: &UnixStream, confinement: &Confinement) -> Result<(), Fault> {
    let failed = "could not leave the server's session";
    setsid().map_err(context(failed))?;
    set_child_subreaper(Some(getpid())).map_err(context(failed))?;
    if confinement.mechanism != Mechanism::None {
        user::become_user(confinement.user)?;
    }
    // After changing the user, which clears the parent death signal.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(context(failed))?;
    let mut ends = [PollFd::new(control, PollFlags::empty())];
    if poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|gone| gone > 0) {
        return Err("the supervisor is gone".to_owned());
    }
    if confinement.mechanism == Mechanism::None {
        let failed = format!("could not enter {}", confinement.cwd.display());
        return env::set_current_dir(&confinement.cwd).map_err(context(&failed));
    }
    let failed = "the script's user can't enter the folder of the run; all its parent folders must be accessible to other users";
    env::set_current_dir(&confinement.cwd).map_err(context(failed))?;
    rlimits::set(confinement)
}

/// Hands the calls that name an address to the supervisor, if the network is public. Waits until the supervisor
/// has the descriptor, so that no script runs without it.
pub(super) fn intercept_calls(control: &mut UnixStream, network: Network) -> Result<(), ChildMessage> {
    if network != Network::Public {
        return Ok(());
    }
    let listener = broker::listen().map_err(context(OLD_KERNEL)).map_err(ChildMessage::NoNetwork)?;
    let failed = "the supervisor did not respond";
    send(control, &ChildMessage::Listening(listener.as_raw_fd()))
        .map_err(context(failed))
        .map_err(ChildMessage::NoNetwork)?;
    control.read_exact(&mut [0]).map_err(context(failed)).map_err(ChildMessage::NoNetwork)
}

/// Applies the layers of the standard level that come before the seccomp filter.
fn restrict(confinement: &Confinement, namespaces: bool, rights: Rights) -> Result<CoveredRights, Fault> {
    if namespaces && getpid().as_raw_pid() != 1 {
        return Err("the PID namespace is missing".to_owned());
    }
    file_rights::restrict(confinement, rights)
}

/// Installs the seccomp filter, and verifies the confinement.
fn filter(confinement: &Confinement, namespaces: bool, covered: CoveredRights) -> Result<(), Fault> {
    // Whether the server or another script runs as the same user and is visible.
    let shared = !namespaces && matches!(confinement.user, User::Same | User::Other(user::NOBODY));
    system_calls::restrict(system_calls::Plan {
        network: confinement.network,
        guard_metadata: shared,
        guard_truncation: !covered.truncation,
        guard_signals: shared && !covered.signals,
    })?;
    verify(confinement.network)
}

/// Tries a few operations that must fail now.
fn verify(network: Network) -> Result<(), Fault> {
    let worked = |what: &str| Err(format!("the sandbox check failed: {what}"));
    if !capabilities(None).is_ok_and(|sets| sets.effective.is_empty() && sets.permitted.is_empty()) {
        return worked("the script would have capabilities");
    }
    if File::open("/proc/self/environ").is_ok() {
        return worked("a system file can be read");
    }
    if socket(AddressFamily::UNIX, SocketType::STREAM, None).is_ok() {
        return worked("a UNIX socket can be created");
    }
    if network == Network::None && socket(AddressFamily::INET, SocketType::DGRAM, None).is_ok() {
        return worked("a network socket can be created");
    }
    if network == Network::Public && TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).is_ok() {
        return worked("a port can be bound");
    }
    if raw::unshare(UnshareFlags::NEWUSER).is_ok() {
        return worked("a namespace can be created");
    }
    Ok(())
}

/// Starts the script with a clean environment.
fn start(confinement: &Confinement) -> Result<Pid, Fault> {
    let mut command = Command::new(&confinement.program);
    command.args(&confinement.args).env_clear().envs(confinement.env.iter().cloned()).stdin(Stdio::null());
    let address_space =
        (confinement.mechanism != Mechanism::None).then(|| rlimits::address_space(confinement));
    raw::kill_with_parent(&mut command, address_space);
    let failed = format!("could not start {}", confinement.program.display());
    let child = command.spawn().map_err(context(&failed))?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(failed)
}

/// Waits for the script, and reaps all other processes.
fn wait_for(script: Pid) -> io::Result<u8> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == script => return Ok(code(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Exit code, as a shell reports it.
pub(super) fn code(status: WaitStatus) -> u8 {
    let signal = || status.terminating_signal().map(|signal| signal.saturating_add(128));
    status.exit_status().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Sends a line to the supervisor.
fn send(control: &mut UnixStream, message: &ChildMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    control.write_all(&line)
}
