//! A batch: a file that never changes between its first try and its removal. These functions wait for the disk.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    time::Duration,
};

use serde::de::IgnoredAny;

use super::{
    folder::{Folder, open},
    id::Id,
    lock::Lock,
};

/// How long the publisher waits for processes that add their line.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// How large a file is still sent; ours are far smaller, but somebody may have put one there.
const MAX_BATCH_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// How much is kept of unfinished lines.
const MAX_TORN_BYTES: u64 = 1024 * 1024;

/// How old an unfinished batch is when nobody can be writing it any more.
const ABANDONED_AGE: Duration = Duration::from_secs(3600);

/// What a batch holds.
#[derive(Debug)]
pub(super) struct Batch {
    /// How many events.
    pub(super) events: u64,
    /// The body of the request: the same for the same file.
    pub(super) body: Vec<u8>,
    /// Lines that are no event.
    pub(super) torn: Vec<Vec<u8>>,
}

/// Makes a batch of what is buffered, if anything is.
pub(super) fn freeze(folder: &Folder, id: Id) -> io::Result<Option<Id>> {
    let buffer = folder.buffer();
    let empty = || match fs::metadata(&buffer) {
        Ok(file) => Ok(file.len() == 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    };
    if empty()? {
        return Ok(None);
    }
    let _held = Lock::within(&folder.buffer_lock(), LOCK_TIMEOUT)?;
    // Looked at again: meanwhile it may have become a batch by itself.
    if empty()? {
        return Ok(None);
    }
    fs::rename(buffer, folder.batch(id))?;
    Ok(Some(id))
}

/// Reads a batch, once it is on the disk under its name; nothing when it is gone.
pub(super) fn read(folder: &Folder, id: Id) -> io::Result<Option<Batch>> {
    let file = match File::options().read(true).append(true).open(folder.batch(id)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if let Err(error) = file.sync_data().and_then(|()| folder.sync()) {
        // What can be read can be sent, and is then safer than here.
        tracing::debug!(%error, "an analytics batch may not survive a loss of power");
    }
    let mut bytes = Vec::new();
    let read = (&file).take(MAX_BATCH_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_BATCH_FILE_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(parse(&bytes)))
}

/// Removes a batch that arrived; its unfinished lines are set aside before.
pub(super) fn remove(folder: &Folder, id: Id, torn: &[Vec<u8>]) -> io::Result<()> {
    if !torn.is_empty() {
        let mut aside = open(&folder.torn())?;
        let bytes = [torn.join(&b'\n'), b"\n".to_vec()].concat();
        if aside.metadata()?.len() + bytes.len() as u64 <= MAX_TORN_BYTES {
            aside.write_all(&bytes)?;
        }
    }
    match fs::remove_file(folder.batch(id)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what kills left of batches that were being written: their events were never said to be taken.
pub(super) fn sweep(folder: &Folder) -> io::Result<()> {
    for path in folder.left_unfinished()? {
        let age = fs::metadata(&path).and_then(|file| file.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age > ABANDONED_AGE) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn parse(bytes: &[u8]) -> Batch {
    let mut batch = Batch { events: 0, body: b"{\"events\":[".to_vec(), torn: Vec::new() };
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if !is_event(line) {
            batch.torn.push(line.to_vec());
            continue;
        }
        if batch.events > 0 {
            batch.body.push(b',');
        }
        batch.body.extend_from_slice(line);
        batch.events += 1;
    }
    batch.body.extend_from_slice(b"]}");
    batch
}

/// Whether a line is a whole JSON object.
fn is_event(line: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(line) else { return false };
    text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
