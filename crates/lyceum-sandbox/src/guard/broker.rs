//! Outgoing connections of a script that may reach public addresses only.
//!
//! A seccomp filter makes the script's `connect` and `sendmsg` calls wait for the supervisor (user notification).
//! The supervisor copies the arguments, checks the copy, and has the call executed on a duplicate of the script's
//! socket. The kernel never reads the script's memory again, so nothing can be swapped after the check (no
//! TOCTOU). The seccomp filter denies all other ways to name an address (`bind`, `sendto` with an address,
//! `sendmmsg`, source routes).
//!
//! The supervisor itself makes no call on a script's socket: `O_NONBLOCK` is shared with the script, which can
//! change it at any time, so a call could block. The connector does, in a separate process; a script that blocks
//! it blocks only itself.

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
    handover::{Handover, Operation},
};
use super::raw::{self, PendingCall};

pub(super) use self::connector::{Connector, main as connector_main};

/// System calls that are intercepted.
const CALLS: [c_long; 2] = [libc::SYS_connect, libc::SYS_sendmsg];

/// Handles the intercepted calls of a run.
pub(super) struct Broker {
    listener: OwnedFd,
    /// DNS servers of this machine; reachable on port 53 even at a private address.
    resolvers: Vec<IpAddr>,
    connector: Connector,
    /// A call that the connector had no room for. Until it has, no other call is received.
    pending: Option<Handover>,
}

/// Intercepts these calls of this process and its descendants; the holder of the descriptor handles them.
pub(super) fn listen() -> io::Result<OwnedFd> {
    raw::listen_to_calls(&CALLS)
}

impl Broker {
    /// Takes over the listener descriptor of the confined process.
    pub(super) fn take_over(process: &OwnedFd, listener: i32, connector: Connector) -> io::Result<Self> {
        let listener = pidfd_getfd(process, listener, PidfdGetfdFlags::empty())?;
        connector.begin(&listener)?;
        let resolvers = address::resolvers(&fs::read_to_string("/etc/resolv.conf").unwrap_or_default());
        Ok(Self { listener, resolvers, connector, pending: None })
    }

    /// What to poll for.
    pub(super) fn poll_target(&self) -> (BorrowedFd<'_>, PollFlags) {
        match self.pending {
            Some(_) => (self.connector.channel(), PollFlags::OUT | PollFlags::ERR | PollFlags::HUP),
            None => (self.listener.as_fd(), PollFlags::IN),
        }
    }

    /// Hands the pending or next call to the connector.
    pub(super) fn proceed(&mut self) {
        let Some(handover) = self.pending.take().or_else(|| self.take_call()) else { return };
        match self.connector.hand_over(&handover) {
            Ok(()) => {}
            Err(Errno::AGAIN | Errno::INTR) => self.pending = Some(handover),
            Err(errno) => respond(&self.listener, handover.call, Err(errno)),
        }
    }

    /// Receives the next call. A denied call gets its error at once.
    fn take_call(&self) -> Option<Handover> {
        // The caller may have been killed in the meantime.
        let call = raw::receive_call(&self.listener).ok()?;
        self.check(&call).map_err(|errno| respond(&self.listener, call.id, Err(errno))).ok()
    }

    /// Copies and checks the arguments of a call.
    fn check(&self, call: &PendingCall) -> Result<Handover, Errno> {
        let [number, pointer, third, ..] = call.args;
        let process = Process::of_thread(call.thread)?;
        let socket = process.descriptor(number)?;
        let operation = match c_long::from(call.number) {
            libc::SYS_connect => {
                let address = process.address(pointer, third)?;
                Operation::Connect(address::permitted(&socket, &address, &self.resolvers)?)
            }
            libc::SYS_sendmsg => {
                Operation::Send(message::permitted(&socket, process.message(pointer)?, third)?)
            }
            _ => return Err(Errno::NOSYS),
        };
        // The pid may have been reused meanwhile; if the call is still pending, the copied data is the caller's.
        if !raw::is_pending(&self.listener, call.id) {
            return Err(Errno::SRCH);
        }
        Ok(Handover { call: call.id, socket, operation })
    }
}

fn respond(listener: &OwnedFd, call: u64, result: Result<usize, Errno>) {
    let _ended_already = raw::respond_to_call(listener, call, result);
}
