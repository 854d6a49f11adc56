//! Appends a line to the buffer, concurrently with other processes and the publisher.
//!
//! Everything happens under the lock, and files are reopened each time, so no line goes into a file that was renamed or
//! deleted meanwhile. A full buffer becomes a batch; its size limit keeps it under 1,000 events.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    time::Duration,
};

use super::{
    folder::{Folder, open},
    id::Id,
    lock::Lock,
};

/// Maximum size of a batch: just under the default body limit of many receivers (100 kB).
pub(super) const BATCH_BYTES: u64 = 96 * 1024;

/// How long a tool call waits for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// Outcome of appending a line.
#[derive(Debug)]
pub(super) enum AppendOutcome {
    /// In the buffer.
    Appended,
    /// In a batch of its own, because the lock timed out.
    Separate,
    /// Rejected: the size cap is reached.
    Full,
}

/// Appends a line to the buffer. If the buffer is full, it becomes a batch with the id of this event, which is unique
/// too.
pub(super) fn append(folder: &Folder, id: Id, line: &[u8], cap: u64) -> io::Result<AppendOutcome> {
    let lock = match Lock::acquire(&folder.buffer_lock(), LOCK_TIMEOUT) {
        // The folder was deleted.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            folder.create()?;
            Lock::acquire(&folder.buffer_lock(), LOCK_TIMEOUT)
        }
        lock => lock,
    };
    match lock {
        Ok(_held) => append_locked(folder, id, line, cap),
        Err(error) if is_unlockable(&error) => write_separate(folder, id, line, cap),
        Err(error) => Err(error),
    }
}

/// Writes a line as a batch of its own, which needs no lock.
pub(super) fn write_separate(folder: &Folder, id: Id, line: &[u8], cap: u64) -> io::Result<AppendOutcome> {
    if folder.batches_bytes()? + BATCH_BYTES + size(line) > cap {
        return Ok(AppendOutcome::Full);
    }
    let temp = folder.temp_batch(id);
    let written = open(&temp).and_then(|mut file| file.write_all(line));
    match written.and_then(|()| fs::rename(&temp, folder.batch(id))) {
        Ok(()) => Ok(AppendOutcome::Separate),
        Err(error) => {
            let _swept_later = fs::remove_file(&temp);
            Err(error)
        }
    }
}

fn append_locked(folder: &Folder, id: Id, line: &[u8], cap: u64) -> io::Result<AppendOutcome> {
    let mut file = open(&folder.buffer())?;
    let mut length = file.metadata()?.len();
    let max_bytes = BATCH_BYTES.min(cap);
    if length + size(line) > max_bytes {
        if length == 0 || folder.batches_bytes()? + length + max_bytes > cap {
            return Ok(AppendOutcome::Full);
        }
        fs::rename(folder.buffer(), folder.batch(id))?;
        file = open(&folder.buffer())?;
        length = 0;
    }
    // Don't append to an incomplete line.
    let result = if length > 0 && last_byte(&mut file)? != b'\n' {
        write_at_once(&mut file, &[b"\n", line].concat())
    } else {
        write_at_once(&mut file, line)
    };
    if result.is_err() {
        // Truncate the partial line; if even that fails, the publisher sets it aside.
        let _ = file.set_len(length);
    }
    result.map(|()| AppendOutcome::Appended)
}

/// Writes with one system call, which a kill rarely interrupts.
fn write_at_once(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    loop {
        match file.write(bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::StorageFull.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    let [byte] = byte;
    Ok(byte)
}

/// Whether the lock timed out, or the file system has no locks.
fn is_unlockable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Unsupported)
}

fn size(line: &[u8]) -> u64 {
    line.len() as u64
}
