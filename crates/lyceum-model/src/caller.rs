//! Who is calling.

use std::collections::BTreeSet;

use crate::{Scope, Tier};

/// Who is calling, and what they hold. Made by a door, once per request, from the proof that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    subject: Option<String>,
    tier: Tier,
    scopes: Scopes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scopes {
    Every,
    Listed(BTreeSet<Scope>),
}

impl Caller {
    /// The owner of a trusted machine: may do everything. For stdio, and for `auth.mode = "open"`.
    pub fn trusted() -> Self {
        Self { subject: None, tier: Tier::Operator, scopes: Scopes::Every }
    }

    /// Someone who did not say who they are.
    pub fn anonymous() -> Self {
        Self { subject: None, tier: Tier::Public, scopes: Scopes::Listed(BTreeSet::new()) }
    }

    /// Someone known: the tier is the person's, the scopes are those of the grant they came with. What is above `public` asks
    /// for both.
    pub fn known(subject: impl Into<String>, tier: Tier, scopes: impl IntoIterator<Item = Scope>) -> Self {
        let scopes = Scopes::Listed(scopes.into_iter().collect());
        Self { subject: Some(subject.into()), tier, scopes }
    }

    /// A stable name for the caller, where there is one.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Whether the caller did not say who they are, where others do.
    pub fn is_anonymous(&self) -> bool {
        self.subject.is_none() && self.scopes != Scopes::Every
    }

    /// How far the caller is trusted.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The scopes that were named one by one; none where the caller may do everything.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        match &self.scopes {
            Scopes::Every => None,
            Scopes::Listed(scopes) => Some(scopes),
        }
        .into_iter()
        .flatten()
    }

    /// Whether the caller holds that scope.
    pub fn has(&self, scope: &Scope) -> bool {
        match &self.scopes {
            Scopes::Every => true,
            Scopes::Listed(scopes) => scopes.contains(scope),
        }
    }
}
