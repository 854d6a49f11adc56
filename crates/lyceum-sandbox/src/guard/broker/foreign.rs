//! Access to the memory and descriptors of a process with a pending call.

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

use super::{super::status, message::CopiedMessage};

/// Maximum size of a socket address (`sockaddr_storage`).
const MAX_SOCKADDR_BYTES: u64 = 128;

/// Maximum number of iovecs of a message (`UIO_MAXIOV`).
const MAX_IOVECS: u64 = 1024;

/// How much of a message is copied: any datagram in full. The rest of a stream follows with the next call.
pub(super) const MAX_DATAGRAM_BYTES: usize = 64 * 1024;

/// A process with a pending call.
pub(super) struct Process {
    memory: File,
    process: OwnedFd,
}

impl Process {
    /// Opens the process of a thread, given by its pid in our namespace.
    pub(super) fn of_thread(thread: u32) -> Result<Self, Errno> {
        let thread = i32::try_from(thread).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let leader = status::number(&status::read(thread), "Tgid:");
        let leader = leader.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).ok_or(Errno::SRCH)?;
        let memory = File::open(format!("/proc/{}/mem", thread.as_raw_pid())).map_err(|_| Errno::ACCESS)?;
        Ok(Self { memory, process: pidfd_open(leader, PidfdFlags::empty())? })
    }

    /// Duplicates one of its descriptors.
    pub(super) fn descriptor(&self, number: u64) -> Result<OwnedFd, Errno> {
        // The kernel ignores the upper 32 bits.
        let number = i32::try_from(number & u64::from(u32::MAX)).map_err(|_| Errno::BADF)?;
        pidfd_getfd(&self.process, number, PidfdGetfdFlags::empty())
    }

    /// Copies a socket address.
    pub(super) fn address(&self, at: u64, length: u64) -> Result<Vec<u8>, Errno> {
        let length = length & u64::from(u32::MAX);
        if length > MAX_SOCKADDR_BYTES { Err(Errno::INVAL) } else { self.read(at, length) }
    }

    /// Copies a message. Rejects one with an address or ancillary data.
    pub(super) fn message(&self, at: u64) -> Result<CopiedMessage, Errno> {
        let [name, name_length, parts, count, control, control_length, _] = self.words(at)?;
        let has_name = name != 0 && name_length & u64::from(u32::MAX) != 0;
        if has_name || (control != 0 && control_length != 0) {
            return Err(Errno::ACCESS);
        }
        if count > MAX_IOVECS {
            return Err(Errno::MSGSIZE);
        }
        let mut copied = CopiedMessage { bytes: Vec::new(), is_complete: true };
        for number in 0..count {
            let [start, length] = self.words(parts.saturating_add(number * 16))?;
            let room =
                u64::try_from(MAX_DATAGRAM_BYTES.saturating_sub(copied.bytes.len())).unwrap_or_default();
            copied.is_complete &= length <= room;
            copied.bytes.extend(self.read(start, length.min(room))?);
        }
        Ok(copied)
    }

    fn words<const N: usize>(&self, at: u64) -> Result<[u64; N], Errno> {
        let mut words = [0; N];
        let bytes = self.read(at, u64::try_from(N).unwrap_or_default() * 8)?;
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        Ok(words)
    }

    fn read(&self, at: u64, length: u64) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| Errno::INVAL)?];
        self.memory.read_exact_at(&mut bytes, at).map_err(|_| Errno::FAULT)?;
        Ok(bytes)
    }
}
