//! Adding a line to the buffer, so that other processes can add theirs and the publisher can take the buffer away.
//!
//! Everything happens under the lock and every file is opened anew, so no line goes into a file that was renamed or
//! removed meanwhile. A full buffer becomes a batch, and the small size of a batch keeps it under 1,000 events.

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

/// The size of a batch: just under what many receivers take without being told to take more (100 kB).
pub(super) const BATCH_BYTES: u64 = 96 * 1024;

/// How long a tool call waits for other processes that add their line.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// What became of a line.
#[derive(Debug)]
pub(super) enum AppendOutcome {
    /// It is in the buffer.
    Yes,
    /// It is in a batch of its own, because the lock was not to be had in time.
    Alone,
    /// There is no room under the cap.
    Full,
}

/// Adds a line to the buffer. The id of its event also names the batch that a full buffer becomes: it is as good as new.
pub(super) fn append(folder: &Folder, id: Id, line: &[u8], cap: u64) -> io::Result<AppendOutcome> {
    let lock = match Lock::within(&folder.buffer_lock(), LOCK_TIMEOUT) {
        // Somebody cleaned up.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            folder.create()?;
            Lock::within(&folder.buffer_lock(), LOCK_TIMEOUT)
        }
        lock => lock,
    };
    match lock {
        Ok(_held) => append_locked(folder, id, line, cap),
        Err(error) if unlockable(&error) => add_alone(folder, id, line, cap),
        Err(error) => Err(error),
    }
}

/// Writes a line as a batch of its own, for which no lock is needed.
pub(super) fn add_alone(folder: &Folder, id: Id, line: &[u8], cap: u64) -> io::Result<AppendOutcome> {
    if folder.batches_bytes()? + BATCH_BYTES + size(line) > cap {
        return Ok(AppendOutcome::Full);
    }
    let unfinished = folder.unfinished(id);
    let written = open(&unfinished).and_then(|mut file| file.write_all(line));
    match written.and_then(|()| fs::rename(&unfinished, folder.batch(id))) {
        Ok(()) => Ok(AppendOutcome::Alone),
        Err(error) => {
            let _what_is_left_is_swept_later = fs::remove_file(&unfinished);
            Err(error)
        }
    }
}

fn append_locked(folder: &Folder, id: Id, line: &[u8], cap: u64) -> io::Result<AppendOutcome> {
    let mut file = open(&folder.buffer())?;
    let mut length = file.metadata()?.len();
    let room = BATCH_BYTES.min(cap);
    if length + size(line) > room {
        if length == 0 || folder.batches_bytes()? + length + room > cap {
            return Ok(AppendOutcome::Full);
        }
        fs::rename(folder.buffer(), folder.batch(id))?;
        file = open(&folder.buffer())?;
        length = 0;
    }
    // After an unfinished line ours would be part of it.
    let result = if length > 0 && last_byte(&mut file)? != b'\n' {
        write_whole(&mut file, &[b"\n", line].concat())
    } else {
        write_whole(&mut file, line)
    };
    if result.is_err() {
        // What is there of the line goes again; if even that fails, the publisher sets it aside.
        let _ = file.set_len(length);
    }
    result.map(|()| AppendOutcome::Yes)
}

/// Writes by one call of the system, which a kill seldom tears.
fn write_whole(file: &mut File, bytes: &[u8]) -> io::Result<()> {
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

/// Whether the lock is held for too long, or the file system has none.
fn unlockable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Unsupported)
}

fn size(line: &[u8]) -> u64 {
    line.len() as u64
}
