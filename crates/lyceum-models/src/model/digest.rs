//! SHA-256 of one file and of several files.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use sha2::{Digest, Sha256};

/// SHA-256 of a file, in hexadecimal.
pub(super) fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(bytes) if read > 0 => hash.update(bytes),
            _ => return Ok(hex(hash)),
        }
    }
}

/// Combined hash of several files, from the name and hash of each.
pub(super) fn of_all<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let lines = files.into_iter().map(|(name, sha256)| format!("{name} {sha256}\n"));
    hex(lines.fold(Sha256::new(), Sha256::chain_update))
}

/// Finishes a hash, in hexadecimal.
pub(super) fn hex(hash: Sha256) -> String {
    const_hex::encode(hash.finalize())
}
