//! Files and folders excluded from a snapshot.

use std::fmt;

use lyceum_model::InvalidPath;

/// A file or folder excluded from a snapshot, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its path in the source, with control characters escaped.
    pub path: String,
    /// File or folder.
    pub extent: Extent,
    /// The reason.
    pub reason: Reason,
}

/// Extent of an exclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One file or symlink.
    File,
    /// A folder with all its content.
    Folder,
}

/// Why a file or folder is excluded from a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A symlink that leaves the source, is circular or broken.
    #[error("the symbolic link leaves the folder, is broken or is circular")]
    Leaves,
    /// A symlink to a folder in a Git repository.
    #[error("the symbolic link points to a folder; in a Git repository only links to files are followed")]
    LinkToFolder,
    /// A name that is not UTF-8.
    #[error("the name is not UTF-8")]
    NotText,
    /// A name that `RelPath` rejects.
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
    /// A Git LFS pointer.
    #[error("it is a Git LFS pointer; LFS content is not fetched")]
    LargeFileStorage,
    /// A hidden name in a local folder.
    #[error("it is hidden: its name begins with a dot")]
    Hidden,
    /// A file directly in an agent's folder, such as `.claude/settings.local.json`.
    #[error("it is directly in a hidden folder, of which only subfolders are served")]
    AgentSettings,
    /// Ignored by a `.gitignore` of a local folder; the pattern and its file.
    #[error("it is ignored: {0}")]
    Ignored(String),
    /// An editor backup.
    #[error("it is an editor backup file")]
    Backup,
}

impl Reason {
    /// Whether a rule excludes it; otherwise something is wrong with it.
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
    /// An excluded file.
    pub(crate) fn of_file(path: &[u8], reason: Reason) -> Self {
        Self::new(path, Extent::File, reason)
    }

    /// An excluded folder.
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
