//! Scopes: which tier may hold each one, and what it allows.
//!
//! A tier may hold its own scopes and those of lower tiers. A grant holds scopes, so a user can give a client
//! fewer permissions than their own; the user's tier is looked up at each request. Services declare the scopes
//! that their tools require.

use std::{borrow::Cow, sync::Arc};

use crate::{Scope, Tier};

/// A scope, with the tier it requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Right {
    /// Its name.
    pub scope: Scope,
    /// The lowest tier that may hold it.
    pub tier: Tier,
    /// What it allows, as shown on the sign-in page.
    pub allows: Cow<'static, str>,
}

impl Right {
    /// Creates a scope for a tier and higher ones.
    pub fn new(scope: Scope, tier: Tier, allows: impl Into<Cow<'static, str>>) -> Self {
        Self { scope, tier, allows: allows.into() }
    }
}

/// Scope for what is open to everyone.
pub const MCP_READ: Scope = Scope::from_static("mcp:read");

/// Scope for full documents of the knowledge base.
pub const KNOWLEDGE_READ: Scope = Scope::from_static("knowledge:read");

/// All scopes of a server. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights(Arc<[Right]>);

impl Rights {
    /// Creates the list; the order is kept.
    pub fn new(rights: impl IntoIterator<Item = Right>) -> Self {
        Self(rights.into_iter().collect())
    }

    /// Iterates in order.
    pub fn iter(&self) -> impl Iterator<Item = &Right> {
        self.0.iter()
    }

    /// Finds a scope by name.
    pub fn scope(&self, name: &str) -> Option<&Scope> {
        self.iter().map(|right| &right.scope).find(|scope| scope.as_str() == name)
    }

    /// All scopes that a tier may hold.
    pub fn of(&self, tier: Tier) -> impl Iterator<Item = Scope> {
        self.iter().filter(move |right| right.tier <= tier).map(|right| right.scope.clone())
    }
}
