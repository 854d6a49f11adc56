//! Messages of `sendmsg`: only to the connected peer, never to an address in the message.

use std::os::fd::OwnedFd;

use rustix::{
    io::Errno,
    net::{SendFlags, SocketType, sockopt::socket_type},
};

/// A message to send.
pub(super) struct Message {
    pub bytes: Vec<u8>,
    pub flags: SendFlags,
}

/// A message copied from the script's memory.
pub(super) struct CopiedMessage {
    pub bytes: Vec<u8>,
    /// Whether all of it was copied.
    pub is_complete: bool,
}

/// Flags of the script that are passed on.
const FLAGS: SendFlags =
    SendFlags::DONTWAIT.union(SendFlags::MORE).union(SendFlags::EOR).union(SendFlags::OOB);

/// Checks a message. A stream sends the rest with the next call; a datagram must be complete.
pub(super) fn permitted(socket: &OwnedFd, copied: CopiedMessage, flags: u64) -> Result<Message, Errno> {
    if !copied.is_complete && socket_type(socket)? != SocketType::STREAM {
        return Err(Errno::MSGSIZE);
    }
    let flags = u32::try_from(flags & u64::from(u32::MAX)).unwrap_or_default();
    Ok(Message { bytes: copied.bytes, flags: SendFlags::from_bits_truncate(flags) & FLAGS })
}
