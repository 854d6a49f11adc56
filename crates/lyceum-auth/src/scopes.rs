//! Sets of scopes, as they travel: names with a space between.

use std::{collections::BTreeSet, fmt};

use lyceum_model::{KNOWLEDGE_READ, MCP_READ, Rights, Scope, Tier};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Asks for a refresh token. It is a word of the authorization server alone: no tool needs it.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes that exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

/// A name that no scope has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope {0}")]
pub struct UnknownScope(String);

impl Scopes {
    /// Reads `a b c`; every name must be one of these. `offline_access` is passed over: a refresh token is given anyway.
    pub fn parse(text: &str, rights: &Rights) -> Result<Self, UnknownScope> {
        let known = |name: &str| rights.scope(name).cloned().ok_or_else(|| UnknownScope(printable(name)));
        names(text).map(known).collect::<Result<_, _>>().map(Self)
    }

    /// What a client gets that names no scope.
    pub fn least() -> Self {
        Self(BTreeSet::from([MCP_READ]))
    }

    /// Every scope that a person can give to a program.
    pub fn every(rights: &Rights) -> Self {
        Self::of(rights, Tier::Vibecoder)
    }

    /// What a tier may hold.
    pub fn of(rights: &Rights, tier: Tier) -> Self {
        Self(rights.of(tier).collect())
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

    /// Those of these that `a b c` names; nothing where it names another.
    pub fn part(&self, text: &str) -> Option<Self> {
        let known = |name: &str| self.0.iter().find(|scope| scope.as_str() == name).cloned();
        names(text).map(known).collect::<Option<_>>().map(Self)
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
    /// As they were written down: whether each is still one is known when somebody uses it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self(text.split(' ').filter_map(|name| Scope::parse(name).ok()).collect()))
    }
}

/// The names in `a b c`, but for the one that asks for a refresh token.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|name| !name.is_empty() && *name != OFFLINE_ACCESS)
}

/// A name as it can be said back.
fn printable(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).filter(|letter| *letter != '"').take(40).collect()
}
