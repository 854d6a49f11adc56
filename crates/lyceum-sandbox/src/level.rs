//! How much a script is held back: what the operator wrote, and what is used.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What the operator wrote for `scripts.sandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LevelChoice {
    /// The best that works here; never none.
    #[default]
    Auto,
    /// Bubblewrap and a filter of system calls, or no scripts.
    Strict,
    /// What the kernel itself offers, or no scripts.
    Standard,
    /// The server's own rights. Time-outs and the end of every process still hold.
    None,
}

/// What is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A file system of its own by bubblewrap, and a filter of system calls.
    Strict,
    /// Landlock, a filter of system calls and another user; namespaces where they work.
    Standard,
    /// No restriction.
    None,
}

/// The text is not one of the levels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a sandbox: write auto, strict, standard or none")]
pub struct UnknownLevel {
    text: String,
}

impl FromStr for LevelChoice {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text {
            "auto" => Ok(Self::Auto),
            "strict" => Ok(Self::Strict),
            "standard" => Ok(Self::Standard),
            "none" => Ok(Self::None),
            _ => Err(UnknownLevel { text: text.chars().take(40).collect() }),
        }
    }
}

impl Level {
    /// The word for logs, answers and pages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Standard => "standard",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
