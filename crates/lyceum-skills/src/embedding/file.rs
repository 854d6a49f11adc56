//! The cache file: vectors of one model, by text. A file of another model, or a damaged one, is ignored.

use std::{fs, io, path::Path};

use lyceum_models::embedder::Identity;
use lyceum_search::VectorTable;
use sha2::{Digest, Sha256};

use super::{TextHash, Vector};

/// Larger files are ignored.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Length of a hash, in bytes.
const HASH_BYTES: usize = 32;

/// Reads the vectors of that model. Blocks.
pub(super) fn read(path: &Path, identity: &Identity) -> Vec<(TextHash, Vector)> {
    let is_small = fs::metadata(path).is_ok_and(|meta| meta.len() <= MAX_BYTES);
    let Some(bytes) = is_small.then(|| fs::read(path).ok()).flatten() else { return Vec::new() };
    let Some((header, rest)) = bytes.split_at_checked(HASH_BYTES) else { return Vec::new() };
    let record_bytes = HASH_BYTES + VectorTable::quantized_bytes(identity.dimensions);
    if header != header_of(identity) || !rest.len().is_multiple_of(record_bytes) {
        return Vec::new();
    }
    rest.chunks_exact(record_bytes).filter_map(record).collect()
}

/// Replaces the file atomically. Blocks.
pub(super) fn write(path: &Path, identity: &Identity, entries: &[(TextHash, Vector)]) -> io::Result<()> {
    let mut bytes = Vec::from(header_of(identity));
    for (hash, vector) in entries {
        bytes.extend(hash);
        bytes.extend(vector.iter());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Two processes may write at the same time; each has its own temporary file.
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, path)
}

fn record(bytes: &[u8]) -> Option<(TextHash, Vector)> {
    let (hash, vector) = bytes.split_at_checked(HASH_BYTES)?;
    Some((hash.try_into().ok()?, vector.into()))
}

/// Hash of everything that makes vectors incomparable: the model, and how they are stored.
fn header_of(identity: &Identity) -> [u8; HASH_BYTES] {
    Sha256::digest(format!("int8 {identity:?}")).into()
}
