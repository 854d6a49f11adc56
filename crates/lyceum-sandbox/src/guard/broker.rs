//! The connections of a script that may reach public addresses only.
//!
//! A filter makes `connect` and `sendmsg` of the script wait for the supervisor (seccomp user notification). The supervisor
//! copies the arguments, judges the copy, and has the call executed on a duplicate of the script's socket. The kernel never
//! reads the script's memory again, so nothing can be swapped after it was judged. All other ways to name an address
//! (`bind`, `sendto` with an address, `sendmmsg`, source routes) are denied by the filter of system calls.
//!
//! The supervisor itself executes no call on a socket of the script: whether it blocks is a flag that the script shares and can
//! change at any time. The connector does, a process of its own; a script that blocks it only blocks itself.

mod address;
mod connector;
mod foreign;
mod handover;
mod message;
mod task;

use std::{
    fs, io,
    net::IpAddr,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
};

use libc::c_long;
use rustix::{
    event::PollFlags,
    io::Errno,
    process::{PidfdGetfdFlags, pidfd_getfd},
};

use self::{
    foreign::Process,
    handover::{Handover, Work},
};
use super::raw::{self, WaitingCall};

pub(super) use self::connector::{Connector, main as connector_main};

/// The calls that wait for the supervisor.
const CALLS: [c_long; 2] = [libc::SYS_connect, libc::SYS_sendmsg];

/// Answers the calls of one run.
pub(super) struct Broker {
    listener: OwnedFd,
    /// The name servers of this machine, which may be reached on port 53 wherever they are.
    resolvers: Vec<IpAddr>,
    connector: Connector,
    /// A call for which the connector had no room yet. Until it has, no other is taken.
    kept: Option<Handover>,
}

/// Has these calls of this process, and of all that it starts, wait for whoever has the listener.
pub(super) fn listen() -> io::Result<OwnedFd> {
    raw::listen_to_calls(&CALLS)
}

impl Broker {
    /// Takes the listener from the process that confines itself.
    pub(super) fn take_over(process: &OwnedFd, listener: i32, connector: Connector) -> io::Result<Self> {
        let listener = pidfd_getfd(process, listener, PidfdGetfdFlags::empty())?;
        connector.begin(&listener)?;
        let resolvers = address::resolvers(&fs::read_to_string("/etc/resolv.conf").unwrap_or_default());
        Ok(Self { listener, resolvers, connector, kept: None })
    }

    /// What to wait for before it can go on.
    pub(super) fn awaited(&self) -> (BorrowedFd<'_>, PollFlags) {
        match self.kept {
            Some(_) => (self.connector.channel(), PollFlags::OUT | PollFlags::ERR | PollFlags::HUP),
            None => (self.listener.as_fd(), PollFlags::IN),
        }
    }

    /// Hands over the call that was kept or announced.
    pub(super) fn go_on(&mut self) {
        let Some(handover) = self.kept.take().or_else(|| self.take_call()) else { return };
        match self.connector.hand_over(&handover) {
            Ok(()) => {}
            Err(Errno::AGAIN | Errno::INTR) => self.kept = Some(handover),
            Err(errno) => respond(&self.listener, handover.call, Err(errno)),
        }
    }

    /// Takes the call that was announced. What is not permitted is answered at once.
    fn take_call(&self) -> Option<Handover> {
        // The caller may have been killed in the meantime.
        let call = raw::receive_call(&self.listener).ok()?;
        self.judge(&call).map_err(|errno| respond(&self.listener, call.id, Err(errno))).ok()
    }

    /// What the script wants to do, copied and judged.
    fn judge(&self, call: &WaitingCall) -> Result<Handover, Errno> {
        let [number, pointer, third, ..] = call.args;
        let process = Process::of_thread(call.thread)?;
        let socket = process.descriptor(number)?;
        let work = match c_long::from(call.number) {
            libc::SYS_connect => {
                let address = process.address(pointer, third)?;
                Work::Connect(address::permitted(&socket, &address, &self.resolvers)?)
            }
            libc::SYS_sendmsg => Work::Send(message::permitted(&socket, process.message(pointer)?, third)?),
            _ => return Err(Errno::NOSYS),
        };
        // The number of a process that ended may be another's by now; what was copied is the caller's if it still waits.
        if !raw::is_waiting(&self.listener, call.id) {
            return Err(Errno::SRCH);
        }
        Ok(Handover { call: call.id, socket, work })
    }
}

fn respond(listener: &OwnedFd, call: u64, result: Result<usize, Errno>) {
    let _ended_already = raw::answer_call(listener, call, result);
}
