//! Who somebody is: an account, a person at GitHub, or the holder of a key.

use std::fmt;

use alloy_primitives::Address;

/// Who somebody is. Its text is what grants, the record and tools know them by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An Ethereum account.
    Account(Address),
    /// A person at GitHub, by the number that stays when names change.
    GitHub(u64),
    /// Whoever holds that key.
    Key {
        /// What it is called.
        name: String,
        /// The beginning of its hash: another key of the same name is another one.
        mark: String,
    },
}

impl Subject {
    /// Reads what was written down.
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
