//! What a script may send: to where its socket is connected, and never to an address of the message's own.

use std::os::fd::OwnedFd;

use rustix::{
    io::Errno,
    net::{SendFlags, SocketType, sockopt::socket_type},
};

/// What a script wants to send.
pub(super) struct Message {
    pub bytes: Vec<u8>,
    pub flags: SendFlags,
}

/// What was copied of the script's memory.
pub(super) struct CopiedMessage {
    pub bytes: Vec<u8>,
    /// Whether that is all of it.
    pub is_whole: bool,
}

/// Which of the script's flags count.
const FLAGS: SendFlags =
    SendFlags::DONTWAIT.union(SendFlags::MORE).union(SendFlags::EOR).union(SendFlags::OOB);

/// The message, if it can be sent. A stream takes the rest of it with the next call, a datagram is one or none.
pub(super) fn permitted(socket: &OwnedFd, copied: CopiedMessage, flags: u64) -> Result<Message, Errno> {
    if !copied.is_whole && socket_type(socket)? != SocketType::STREAM {
        return Err(Errno::MSGSIZE);
    }
    let flags = u32::try_from(flags & u64::from(u32::MAX)).unwrap_or_default();
    Ok(Message { bytes: copied.bytes, flags: SendFlags::from_bits_truncate(flags) & FLAGS })
}
