//! Sets of scopes, as they travel: names with a space between.

use std::{collections::BTreeSet, fmt};

use lyceum_model::{KNOWLEDGE_READ, MCP_READ, RIGHTS, Scope, Tier};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Asks for a refresh token. It is a word of the authorization server alone: no tool needs it.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes that exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

/// A name that no scope has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no scope {0}")]
pub struct UnknownScope(String);

impl Scopes {
    /// Reads `a b c`; every name must be that of a scope. `offline_access` is passed over: a refresh token is given anyway.
    pub fn parse(text: &str) -> Result<Self, UnknownScope> {
        let names = text.split(' ').filter(|name| !name.is_empty() && *name != OFFLINE_ACCESS);
        names.map(known).collect::<Result<_, _>>().map(Self)
    }

    /// What a client gets that names no scope.
    pub fn least() -> Self {
        Self(BTreeSet::from([MCP_READ]))
    }

    /// Every scope there is.
    pub fn every() -> Self {
        Self::of(Tier::Vibecoder)
    }

    /// What a tier may hold.
    pub fn of(tier: Tier) -> Self {
        Self(tier.scopes().collect())
    }

    /// What is in both.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// The same and what follows from it: who may read whole documents may read what is open to everyone.
    pub fn with_implied(&self) -> Self {
        let implied = self.0.contains(&KNOWLEDGE_READ).then_some(MCP_READ);
        Self(self.0.iter().cloned().chain(implied).collect())
    }

    /// Whether all of these are in the other.
    pub fn are_within(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
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
    /// What was written down before a scope was taken away is read without it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(text.split(' ').filter_map(|name| known(name).ok()).collect()))
    }
}

fn known(name: &str) -> Result<Scope, UnknownScope> {
    let right = RIGHTS.iter().find(|right| right.scope.as_str() == name);
    let shown =
        || name.chars().filter(char::is_ascii_graphic).filter(|letter| *letter != '"').take(40).collect();
    right.map(|right| right.scope.clone()).ok_or_else(|| UnknownScope(shown()))
}
