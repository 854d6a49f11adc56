//! What stands for the content of a file.

use crate::folder::FileMark;

/// Stands for the content of a file: the same stamp means the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp(pub(crate) Mark);

/// What a stamp is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    Blob(gix::ObjectId),
    File(FileMark),
    /// The SHA-256 of bytes that are part of the program.
    Bundled([u8; 32]),
}

impl Stamp {
    /// The stamp as a text that stands for the content in other processes too, so that it can be kept.
    ///
    /// Nothing where a file changed just now: another change could leave the same text.
    pub fn durable(&self) -> Option<String> {
        match &self.0 {
            Mark::Blob(id) => Some(id.to_string()),
            Mark::File(mark) => mark.durable(),
            Mark::Bundled(hash) => Some(const_hex::encode(hash)),
        }
    }

    /// What the version of a snapshot sees of the file: the same wherever the same files are, also in a copy of a
    /// folder that keeps their times.
    pub(crate) fn seen_by_version(&self) -> String {
        match &self.0 {
            Mark::Blob(id) => id.to_string(),
            Mark::File(mark) => mark.size_and_time(),
            Mark::Bundled(hash) => const_hex::encode(hash),
        }
    }
}
