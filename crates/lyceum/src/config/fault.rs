//! What is wrong with a configuration: all of it at once, each with its place and what to write.

use std::{fmt, path::PathBuf};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueOrigin {
    /// A line of a file.
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A file as a whole.
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Where.
    pub place: ValueOrigin,
    /// The key, such as `server.listen`; empty where the file can't be read at all.
    pub key: String,
    /// What is wrong, and what to write.
    pub message: String,
}

/// Everything that is wrong, in the order of the places.
#[derive(Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl ValueOrigin {
    /// Whether it came from a file, not from the environment or a flag.
    pub(super) fn is_in_file(&self) -> bool {
        match self {
            Self::Line { .. } | Self::File(_) => true,
            Self::Variable(_) | Self::Flag(_) => false,
        }
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line } => write!(f, "{}:{line}", file.display()),
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Variable(name) => write!(f, "the environment variable {name}"),
            Self::Flag(name) => write!(f, "the flag {name}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "{}: {}", self.place, self.message),
            key => write!(f, "{}: {key}: {}", self.place, self.message),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(f, "the configuration has {count} fault{}", if count == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for Faults {}
