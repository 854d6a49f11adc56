//! One call that the connector executes for a script. As long as the script leaves the socket's flags alone it never blocks.

use std::os::fd::OwnedFd;

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    net::{SendFlags, connect, send},
};

use super::handover::{Handover, Work};

const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A call under way.
pub(super) struct Task {
    /// The number of the call.
    pub call: u64,
    /// A duplicate of the script's socket.
    pub socket: OwnedFd,
    work: Work,
    /// Whether the script wants to wait: its socket blocks. While a `connect` is under way it does not.
    waits: bool,
    /// Whether a `connect` is under way.
    started: bool,
}

impl Task {
    /// Makes ready: from here on, until the task is dropped, the socket of a `connect` does not block.
    pub(super) fn new(handover: Handover) -> Result<Self, Errno> {
        let Handover { call, socket, work } = handover;
        let flags = fcntl_getfl(&socket)?;
        let waits = !flags.contains(OFlags::NONBLOCK);
        if matches!(work, Work::Connect(_)) && waits {
            fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
        }
        Ok(Self { call, socket, work, waits, started: false })
    }

    /// Tries; nothing if the script has to wait.
    pub(super) fn attempt(&mut self) -> Option<Result<usize, Errno>> {
        match &self.work {
            // Only what is decided is called again, which fetches its result and blocks in no case.
            Work::Connect(_) if self.started && !is_decided(&self.socket) => None,
            Work::Connect(address) => match connect(&self.socket, address) {
                Err(Errno::INPROGRESS | Errno::ALREADY) if self.waits => {
                    self.started = true;
                    None
                }
                // Another call has fetched it. One that was not begun here was connected before.
                Err(Errno::ISCONN) if self.started => Some(Ok(0)),
                result => Some(result.map(|()| 0)),
            },
            Work::Send(message) => {
                let flags = message.flags | SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                match send(&self.socket, &message.bytes, flags) {
                    Err(Errno::AGAIN) if self.waits && !message.flags.contains(SendFlags::DONTWAIT) => None,
                    result => Some(result),
                }
            }
        }
    }
}

/// Whether a connection is made or has failed.
fn is_decided(socket: &OwnedFd) -> bool {
    poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&NO_WAIT)).is_ok_and(|ready| ready > 0)
}

impl Task {
    /// Gives the socket back as it was. It has to be before the script goes on, for the next call of the script is on it.
    pub(super) fn restore(&mut self) {
        if matches!(self.work, Work::Connect(_)) && self.waits {
            self.waits = false;
            let _closed = fcntl_getfl(&self.socket)
                .and_then(|flags| fcntl_setfl(&self.socket, flags.difference(OFlags::NONBLOCK)));
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.restore();
    }
}

#[cfg(test)]
mod tests;
