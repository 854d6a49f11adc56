//! Subjects: an Ethereum account, a GitHub user, or the holder of an API key.

use std::fmt;

use alloy_primitives::Address;

/// An authenticated identity. Grants, the audit log and tools refer to it by its text form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An Ethereum account.
    Account(Address),
    /// A GitHub user, by the numeric id, which is stable when logins change.
    GitHub(u64),
    /// The holder of an API key.
    Key {
        /// Name of the key.
        name: String,
        /// Prefix of its hash, to tell it from another key of the same name.
        mark: String,
    },
}

impl Subject {
    /// Parses the text form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix("github:") {
            return id.parse().ok().map(Self::GitHub);
        }
        if let Some(key) = text.strip_prefix("key:") {
            let (name, mark) = key.rsplit_once('#')?;
            return Some(Self::Key { name: name.to_owned(), mark: mark.to_owned() });
        }
        text.parse().ok().map(Self::Account)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(address) => write!(f, "{address}"),
            Self::GitHub(id) => write!(f, "github:{id}"),
            Self::Key { name, mark } => write!(f, "key:{name}#{mark}"),
        }
    }
}
