//! Errors in a configuration: all at once, each with its location and a fix.

use std::{fmt, path::PathBuf};

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueOrigin {
    /// A line of a file.
    Line {
        /// The file.
        file: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// A whole file.
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
    /// A command-line flag or argument.
    Flag(&'static str),
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Where the value came from.
    pub origin: ValueOrigin,
    /// The key, such as `server.listen`; empty if the whole file can't be read.
    pub key: String,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// All errors, sorted by origin.
#[derive(Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl ValueOrigin {
    /// Whether it came from a file, rather than the environment or a flag.
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
            Self::Flag(name) if name.starts_with('-') => write!(f, "the flag {name}"),
            Self::Flag(name) => write!(f, "the argument {name}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "{}: {}", self.origin, self.message),
            key => write!(f, "{}: {key}: {}", self.origin, self.message),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(f, "the configuration has {count} error{}", if count == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for Faults {}
