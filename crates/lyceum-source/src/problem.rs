//! What a source holds and a snapshot could not take.

use std::fmt;

use lyceum_model::InvalidPath;

/// Something that was left out of a snapshot, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is, from the source on, with what can't be printed escaped.
    pub path: String,
    /// How much was left out.
    pub extent: Extent,
    /// Why it was left out.
    pub reason: Reason,
}

/// How much was left out of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One file, or a link.
    File,
    /// A folder, with all that may be in it.
    Folder,
}

/// Why something was left out of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A link that leads out of the source, round in a circle, or to nothing.
    #[error("the symbolic link leaves the folder, is broken or is circular")]
    Leaves,
    /// A link of a Git repository that leads to a folder.
    #[error("the symbolic link points to a folder; in a Git repository only links to files are followed")]
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
    /// A folder, or a `.gitignore`, that could not be read.
    #[error("it could not be read: {0}")]
    Unreadable(String),
    /// A Git submodule: its files are in another repository.
    #[error("it is a Git submodule; add that repository as a source of its own")]
    Submodule,
    /// A pointer to content that is kept with Git LFS.
    #[error("it is a Git LFS pointer; LFS content is not fetched")]
    LargeFileStorage,
    /// A hidden name in a folder of this machine.
    #[error("it is hidden: its name begins with a dot")]
    Hidden,
    /// A file right in a folder of an agent, such as `.claude/settings.local.json`.
    #[error("it is directly in a hidden folder, of which only subfolders are served")]
    AgentSettings,
    /// What a `.gitignore` names in a folder of this machine; the line and its file.
    #[error("it is ignored: {0}")]
    Ignored(String),
    /// What an editor left.
    #[error("it is an editor backup file")]
    Backup,
}

impl Reason {
    /// Whether it was left out because of a rule, so that nothing is wrong with it.
    pub fn is_deliberate(&self) -> bool {
        match self {
            Self::Hidden | Self::AgentSettings | Self::Ignored(_) | Self::Backup => true,
            Self::Leaves
            | Self::LinkToFolder
            | Self::NotText
            | Self::NotAPath(_)
            | Self::Special
            | Self::Unreadable(_)
            | Self::Submodule
            | Self::LargeFileStorage => false,
        }
    }
}

impl Problem {
    /// A file that was left out.
    pub(crate) fn of_file(path: &[u8], reason: Reason) -> Self {
        Self::new(path, Extent::File, reason)
    }

    /// A folder that was left out.
    pub(crate) fn of_folder(path: &[u8], reason: Reason) -> Self {
        Self::new(path, Extent::Folder, reason)
    }

    fn new(path: &[u8], extent: Extent, reason: Reason) -> Self {
        let mut text = String::with_capacity(path.len());
        for c in String::from_utf8_lossy(path).chars() {
            if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
        }
        Self { path: text, extent, reason }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}
