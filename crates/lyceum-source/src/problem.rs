//! What a source holds and a snapshot could not take.

use std::fmt;

use lyceum_model::InvalidPath;

/// Something that was left out of a snapshot, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is, from the source on, with what can't be printed escaped.
    pub path: String,
    /// Why it was left out.
    pub reason: Reason,
}

/// Why something was left out of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A link that leads out of the source, round in a circle, or to nothing.
    #[error("the link leaves the folder, leads nowhere or round in a circle")]
    Leaves,
    /// A link of a Git repository that leads to a folder.
    #[error("the link leads to a folder; links to files only are followed in a Git repository")]
    LinkToFolder,
    /// A name that is not UTF-8.
    #[error("the name is not UTF-8")]
    NotText,
    /// A name that is no path of ours.
    #[error(transparent)]
    NotAPath(InvalidPath),
    /// A pipe, a socket or a device.
    #[error("it is neither a file nor a folder")]
    Special,
    /// A folder that could not be read.
    #[error("the folder could not be read: {0}")]
    Unreadable(String),
    /// A Git submodule: its files are in another repository.
    #[error("it is a Git submodule; add that repository as a source of its own")]
    Submodule,
    /// A pointer to content that is kept with Git LFS.
    #[error("its content is kept with Git LFS, which is not fetched")]
    LargeFileStorage,
}

impl Problem {
    pub(crate) fn new(path: &[u8], reason: Reason) -> Self {
        let mut text = String::with_capacity(path.len());
        for c in String::from_utf8_lossy(path).chars() {
            if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
        }
        Self { path: text, reason }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}
