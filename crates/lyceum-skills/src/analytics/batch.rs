//! A batch: a file that never changes between its first attempt and its deletion. These functions block.

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

/// How long the publisher waits for the buffer lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum size of a batch to send; ours are far smaller, but a user may have put a file there.
const MAX_BATCH_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of the file of incomplete lines.
const MAX_TORN_BYTES: u64 = 1024 * 1024;

/// Age after which a temporary batch is considered abandoned.
const ABANDONED_AGE: Duration = Duration::from_secs(3600);

/// A parsed batch.
#[derive(Debug)]
pub(super) struct Batch {
    /// Number of events.
    pub(super) events: u64,
    /// The request body; deterministic for a file.
    pub(super) body: Vec<u8>,
    /// Incomplete lines.
    pub(super) torn: Vec<Vec<u8>>,
}

/// Turns the buffer into a batch, unless it is empty.
pub(super) fn freeze(folder: &Folder, id: Id) -> io::Result<Option<Id>> {
    let buffer = folder.buffer();
    let is_empty = || match fs::metadata(&buffer) {
        Ok(file) => Ok(file.len() == 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    };
    if is_empty()? {
        return Ok(None);
    }
    let _held = Lock::acquire(&folder.buffer_lock(), LOCK_TIMEOUT)?;
    // Check again: it may have become a batch meanwhile.
    if is_empty()? {
        return Ok(None);
    }
    fs::rename(buffer, folder.batch(id))?;
    Ok(Some(id))
}

/// Fsyncs and reads a batch; `None` if it was deleted.
pub(super) fn read(folder: &Folder, id: Id) -> io::Result<Option<Batch>> {
    let file = match File::options().read(true).append(true).open(folder.batch(id)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if let Err(error) = file.sync_data().and_then(|()| folder.sync()) {
        // A readable batch can be sent, and is then safer than here.
        tracing::debug!(%error, "could not fsync an analytics batch; it may not survive a power loss");
    }
    let mut bytes = Vec::new();
    let read = (&file).take(MAX_BATCH_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_BATCH_FILE_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(parse(&bytes)))
}

/// Deletes a delivered batch, after saving its incomplete lines.
pub(super) fn remove(folder: &Folder, id: Id, torn: &[Vec<u8>]) -> io::Result<()> {
    if !torn.is_empty() {
        let mut file = open(&folder.torn())?;
        let bytes = [torn.join(&b'\n'), b"\n".to_vec()].concat();
        if file.metadata()?.len() + bytes.len() as u64 <= MAX_TORN_BYTES {
            file.write_all(&bytes)?;
        }
    }
    match fs::remove_file(folder.batch(id)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Deletes temporary batches of killed processes; their events were never accepted.
pub(super) fn sweep(folder: &Folder) -> io::Result<()> {
    for path in folder.temp_batches()? {
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
