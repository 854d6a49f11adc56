//! A call that the connector executes for a script. It never blocks, unless the script changes the socket's flags.

use std::os::fd::OwnedFd;

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    net::{SendFlags, connect, send},
};

use super::handover::{Handover, Operation};

const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A call in progress.
pub(super) struct Task {
    /// Id of the seccomp notification.
    pub call: u64,
    /// A duplicate of the script's socket.
    pub socket: OwnedFd,
    operation: Operation,
    /// Whether the script's socket is blocking. During a `connect` it is temporarily non-blocking.
    blocking: bool,
    /// Whether a `connect` is in progress.
    connecting: bool,
}

impl Task {
    /// Prepares a call. From here on, until the task is dropped, the socket of a `connect` is non-blocking.
    pub(super) fn new(handover: Handover) -> Result<Self, Errno> {
        let Handover { call, socket, operation } = handover;
        let flags = fcntl_getfl(&socket)?;
        let blocking = !flags.contains(OFlags::NONBLOCK);
        if matches!(operation, Operation::Connect(_)) && blocking {
            fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
        }
        Ok(Self { call, socket, operation, blocking, connecting: false })
    }

    /// Attempts the call; `None` if the script has to wait.
    pub(super) fn attempt(&mut self) -> Option<Result<usize, Errno>> {
        match &self.operation {
            // Calls `connect` again only to get the result, once it is available, so it can't block.
            Operation::Connect(_) if self.connecting && !is_connect_complete(&self.socket) => None,
            Operation::Connect(address) => match connect(&self.socket, address) {
                Err(Errno::INPROGRESS | Errno::ALREADY) if self.blocking => {
                    self.connecting = true;
                    None
                }
                // Another call got the result. If the connect was not started here, the socket was already
                // connected.
                Err(Errno::ISCONN) if self.connecting => Some(Ok(0)),
                result => Some(result.map(|()| 0)),
            },
            Operation::Send(message) => {
                let flags = message.flags | SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                match send(&self.socket, &message.bytes, flags) {
                    Err(Errno::AGAIN) if self.blocking && !message.flags.contains(SendFlags::DONTWAIT) => {
                        None
                    }
                    result => Some(result),
                }
            }
        }
    }
}

/// Whether a connection attempt succeeded or failed.
fn is_connect_complete(socket: &OwnedFd) -> bool {
    poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&NO_WAIT)).is_ok_and(|ready| ready > 0)
}

impl Task {
    /// Restores the socket's flags. Must happen before the script resumes, because its next call uses the socket.
    pub(super) fn restore(&mut self) {
        if matches!(self.operation, Operation::Connect(_)) && self.blocking {
            self.blocking = false;
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
