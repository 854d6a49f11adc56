//! A permitted call, sent from the supervisor to the connector: one packet, with the socket as its only
//! descriptor.

use std::{
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::SocketAddr,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
};

use super::{foreign::MAX_DATAGRAM_BYTES, message::Message};

/// A permitted call.
pub(super) struct Handover {
    /// Id of the seccomp notification.
    pub call: u64,
    /// A duplicate of the script's socket.
    pub socket: OwnedFd,
    pub operation: Operation,
}

/// The operation to perform.
pub(super) enum Operation {
    Connect(SocketAddr),
    Send(Message),
}

const CONNECT: u8 = 1;
const SEND: u8 = 2;

/// Maximum size of a packet: a message and its header.
const MAX_PACKET_BYTES: usize = MAX_DATAGRAM_BYTES + 64;

impl Handover {
    /// Serializes all but the socket.
    pub(super) fn pack(&self) -> Vec<u8> {
        let mut bytes = self.call.to_ne_bytes().to_vec();
        match &self.operation {
            Operation::Connect(address) => {
                bytes.push(CONNECT);
                bytes.extend(address.to_string().into_bytes());
            }
            Operation::Send(message) => {
                bytes.push(SEND);
                bytes.extend(message.flags.bits().to_ne_bytes());
                bytes.extend(&message.bytes);
            }
        }
        bytes
    }

    /// Deserializes a packet.
    pub(super) fn unpack(packet: Packet) -> Option<Self> {
        let (call, rest) = packet.bytes.split_first_chunk::<8>()?;
        let operation = match rest.split_first()? {
            (&CONNECT, address) => Operation::Connect(str::from_utf8(address).ok()?.parse().ok()?),
            (&SEND, rest) => {
                let (flags, bytes) = rest.split_first_chunk::<4>()?;
                let flags = SendFlags::from_bits_retain(u32::from_ne_bytes(*flags));
                Operation::Send(Message { bytes: bytes.to_vec(), flags })
            }
            _ => return None,
        };
        Some(Self { call: u64::from_ne_bytes(*call), socket: packet.descriptor, operation })
    }
}

/// A received packet.
pub(super) struct Packet {
    bytes: Vec<u8>,
    pub descriptor: OwnedFd,
}

/// Sends a packet; `EAGAIN` if the channel is full.
pub(super) fn send(channel: &OwnedFd, bytes: &[u8], descriptor: &OwnedFd) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let descriptors = [descriptor.as_fd()];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Errno::NOBUFS);
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(channel, &[IoSlice::new(bytes)], &mut control, flags).map(drop)
}

/// Receives a packet; `None` if the channel is closed.
pub(super) fn receive(channel: &OwnedFd) -> Result<Option<Packet>, Errno> {
    let mut bytes = vec![0; MAX_PACKET_BYTES];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(channel, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    bytes.truncate(received.bytes);
    Ok(descriptor.map(|descriptor| Packet { bytes, descriptor }))
}
