//! Scopes: which tier may hold each, and what it allows.
//!
//! A tier is the bundle of its scopes and of those below it. A grant holds scopes, so that a person can let a program do
//! less than they may themselves; which tier a person has is looked up at each request. Services declare the scopes that their
//! tools ask for.

use std::{borrow::Cow, sync::Arc};

use crate::{Scope, Tier};

/// One scope, and whom it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Right {
    /// Its name.
    pub scope: Scope,
    /// The lowest tier that may hold it.
    pub tier: Tier,
    /// What it allows, as the sign-in page says it.
    pub allows: Cow<'static, str>,
}

impl Right {
    /// A scope for that tier and those above it.
    pub fn new(scope: Scope, tier: Tier, allows: impl Into<Cow<'static, str>>) -> Self {
        Self { scope, tier, allows: allows.into() }
    }
}

/// The least scope: what is open to everyone.
pub const MCP_READ: Scope = Scope::from_static("mcp:read");

/// Whole documents of the knowledge base.
pub const KNOWLEDGE_READ: Scope = Scope::from_static("knowledge:read");

/// Every scope of a server. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights(Arc<[Right]>);

impl Rights {
    /// Those scopes, in that order.
    pub fn new(rights: impl IntoIterator<Item = Right>) -> Self {
        Self(rights.into_iter().collect())
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Right> {
        self.0.iter()
    }

    /// The scope of that name, if there is one.
    pub fn scope(&self, name: &str) -> Option<&Scope> {
        self.iter().map(|right| &right.scope).find(|scope| scope.as_str() == name)
    }

    /// Every scope that a tier may hold.
    pub fn of(&self, tier: Tier) -> impl Iterator<Item = Scope> {
        self.iter().filter(move |right| right.tier <= tier).map(|right| right.scope.clone())
    }
}
