//! Sandbox levels: configured and actual.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Value of `scripts.sandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LevelChoice {
    /// The best level that works on this machine; never `none`.
    #[default]
    Auto,
    /// Bubblewrap and seccomp, or no scripts.
    Strict,
    /// Kernel mechanisms without bubblewrap, or no scripts.
    Standard,
    /// The server's own permissions. Timeouts and killing of all processes still apply.
    None,
}

/// The actual sandbox level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Its own file system by bubblewrap, and seccomp.
    Strict,
    /// Landlock, seccomp and another user; namespaces if available.
    Standard,
    /// No restriction.
    None,
}

/// Unknown value of `scripts.sandbox`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown sandbox level {text:?}: use auto, strict, standard or none")]
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
    /// Name for logs, responses and pages.
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
