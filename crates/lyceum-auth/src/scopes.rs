//! Sets of scopes; on the wire, names separated by spaces.

use std::{collections::BTreeSet, fmt};

use lyceum_model::{KNOWLEDGE_READ, MCP_READ, Rights, Scope, Tier};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Requests a refresh token. Used by the authorization server only: no tool requires it.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

/// Unknown scope name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope {0}")]
pub struct UnknownScope(String);

impl Scopes {
    /// Parses `a b c`; every name must exist. `offline_access` is ignored: a refresh token is always issued.
    pub fn parse(text: &str, rights: &Rights) -> Result<Self, UnknownScope> {
        let known = |name: &str| rights.scope(name).cloned().ok_or_else(|| UnknownScope(printable(name)));
        names(text).map(known).collect::<Result<_, _>>().map(Self)
    }

    /// Default scopes of a client that requests none.
    pub fn minimal() -> Self {
        Self(BTreeSet::from([MCP_READ]))
    }

    /// All scopes that a user can grant to a client.
    pub fn every(rights: &Rights) -> Self {
        Self::of(rights, Tier::Vibecoder)
    }

    /// All scopes that a tier may hold.
    pub fn of(rights: &Rights, tier: Tier) -> Self {
        Self(rights.of(tier).collect())
    }

    /// Intersection.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Adds implied scopes: reading full documents implies reading what is open to everyone.
    pub fn with_implied(&self) -> Self {
        let implied = self.0.contains(&KNOWLEDGE_READ).then_some(MCP_READ);
        Self(self.0.iter().cloned().chain(implied).collect())
    }

    /// Returns the subset named by `a b c`; `None` if it names others.
    pub fn subset(&self, text: &str) -> Option<Self> {
        let known = |name: &str| self.0.iter().find(|scope| scope.as_str() == name).cloned();
        names(text).map(known).collect::<Option<_>>().map(Self)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates in order.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(Scope::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

impl Serialize for Scopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scopes {
    /// Accepts any valid name: whether a scope still exists is checked when it is used.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(text.split(' ').filter_map(|name| Scope::parse(name).ok()).collect()))
    }
}

/// Splits `a b c`, skipping `offline_access`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|name| !name.is_empty() && *name != OFFLINE_ACCESS)
}

/// Sanitizes a name for an error message.
fn printable(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).filter(|letter| *letter != '"').take(40).collect()
}
