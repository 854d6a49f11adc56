//! The connections of a script that may reach public addresses only.
//!
//! A filter makes `connect` and `sendmsg` of the script wait for the supervisor (seccomp user notification). The supervisor
//! copies the arguments, judges the copy, and does the call itself on a duplicate of the script's socket. The kernel never
//! reads the script's memory again, so nothing can be swapped after it was judged. All other ways to name an address
//! (`bind`, `sendto` with an address, `sendmmsg`, source routes) are denied by the filter of system calls.

//!
//! The supervisor has one thread and waits for nobody: a call that can't be finished at once is tried again when its socket
//! is ready.

mod address;
mod foreign;
mod message;
mod task;

use std::{
    fs, io,
    net::IpAddr,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
};

use libc::c_long;
use rustix::{
    io::Errno,
    process::{PidfdGetfdFlags, pidfd_getfd},
};

use self::{
    foreign::Process,
    task::{Task, Work},
};
use super::raw::{self, WaitingCall};

/// The calls that wait for the supervisor.
const CALLS: [c_long; 2] = [libc::SYS_connect, libc::SYS_sendmsg];

/// How many calls may wait for their sockets; a script has fewer threads than that.
const MOST_AT_ONCE: usize = 128;

/// Answers the calls of one run.
pub(super) struct Broker {
    listener: OwnedFd,
    /// The name servers of this machine, which may be reached on port 53 wherever they are.
    resolvers: Vec<IpAddr>,
    tasks: Vec<Task>,
}

/// Has these calls of this process, and of all that it starts, wait for whoever has the listener.
pub(super) fn listen() -> io::Result<OwnedFd> {
    raw::listen_to_calls(&CALLS)
}

impl Broker {
    /// Takes the listener from the process that confines itself.
    pub(super) fn take_over(process: &OwnedFd, listener: i32) -> io::Result<Self> {
        let listener = pidfd_getfd(process, listener, PidfdGetfdFlags::empty())?;
        let resolvers = address::resolvers(&fs::read_to_string("/etc/resolv.conf").unwrap_or_default());
        Ok(Self { listener, resolvers, tasks: Vec::new() })
    }

    /// Where a call announces itself.
    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The sockets that calls wait for.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.tasks.iter().map(|task| task.socket.as_fd())
    }

    /// Tries again what had to wait, and forgets the calls whose callers do not wait any more.
    pub(super) fn go_on(&mut self) {
        let Self { listener, tasks, .. } = self;
        tasks.retain(|task| {
            let result = if raw::is_waiting(listener, task.call) { task.attempt() } else { Some(Ok(0)) };
            result.map(|result| answer(listener, task.call, result)).is_none()
        });
    }

    /// Takes the call that was announced.
    pub(super) fn take_call(&mut self) {
        // The caller may have been killed in the meantime.
        let Ok(call) = raw::receive_call(&self.listener) else { return };
        let begun = match self.task(&call) {
            Ok(task) => task.attempt().map_or(Ok(task), Err),
            Err(errno) => Err(Err(errno)),
        };
        match begun {
            Ok(task) if self.tasks.len() < MOST_AT_ONCE => self.tasks.push(task),
            Ok(_) => answer(&self.listener, call.id, Err(Errno::AGAIN)),
            Err(result) => answer(&self.listener, call.id, result),
        }
    }

    /// What the script wants to do, copied and judged.
    fn task(&self, call: &WaitingCall) -> Result<Task, Errno> {
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
        Task::new(call.id, socket, work)
    }
}

fn answer(listener: &OwnedFd, call: u64, result: Result<usize, Errno>) {
    let _ended_already = raw::answer_call(listener, call, result);
}
