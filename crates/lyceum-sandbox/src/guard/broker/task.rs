//! One call that the supervisor does for a script, without ever waiting itself.

use std::{net::SocketAddr, os::fd::OwnedFd};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    net::{SendFlags, connect, send},
};

use super::message::Message;

/// A call under way.
pub(super) struct Task {
    /// The number of the call.
    pub call: u64,
    /// A duplicate of the script's socket.
    pub socket: OwnedFd,
    work: Work,
    /// The socket's own flags. While the call is under way it does not block.
    flags: OFlags,
}

/// What is done.
pub(super) enum Work {
    Connect(SocketAddr),
    Send(Message),
}

impl Task {
    /// Makes ready: from here on, until the task is dropped, the socket does not block.
    pub(super) fn new(call: u64, socket: OwnedFd, work: Work) -> Result<Self, Errno> {
        let flags = fcntl_getfl(&socket)?;
        if matches!(work, Work::Connect(_)) && !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
        }
        Ok(Self { call, socket, work, flags })
    }

    /// Tries; nothing if the script has to wait.
    pub(super) fn attempt(&self) -> Option<Result<usize, Errno>> {
        let waits = !self.flags.contains(OFlags::NONBLOCK);
        match &self.work {
            Work::Connect(address) => match connect(&self.socket, address) {
                Err(Errno::INPROGRESS | Errno::ALREADY) if waits => None,
                // It was begun by an earlier attempt, and is done.
                Err(Errno::ISCONN) if waits => Some(Ok(0)),
                result => Some(result.map(|()| 0)),
            },
            Work::Send(message) => {
                let flags = message.flags | SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                match send(&self.socket, &message.bytes, flags) {
                    Err(Errno::AGAIN) if waits && !message.flags.contains(SendFlags::DONTWAIT) => None,
                    result => Some(result),
                }
            }
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if matches!(self.work, Work::Connect(_)) {
            let _closed = fcntl_setfl(&self.socket, self.flags);
        }
    }
}
