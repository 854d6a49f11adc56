//! Content fingerprints.

use crate::folder::FileMark;

/// Content fingerprint of a file: equal stamps mean equal bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp(pub(crate) Mark);

/// Data of a stamp.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    Blob(gix::ObjectId),
    File(FileMark),
    /// SHA-256 of the content.
    Bundled([u8; 32]),
}

impl Stamp {
    /// A form that is valid across processes, so that it can be stored.
    ///
    /// `None` if the file changed just now: another change could get the same timestamp.
    pub fn durable(&self) -> Option<String> {
        match &self.0 {
            Mark::Blob(id) => Some(id.to_string()),
            Mark::File(mark) => mark.durable(),
            Mark::Bundled(hash) => Some(const_hex::encode(hash)),
        }
    }

    /// The part that goes into the version of a snapshot: equal for equal files, also in a copy of a folder that
    /// preserves modification times.
    pub(crate) fn version_key(&self) -> String {
        match &self.0 {
            Mark::Blob(id) => id.to_string(),
            Mark::File(mark) => mark.size_and_time(),
            Mark::Bundled(hash) => const_hex::encode(hash),
        }
    }
}
