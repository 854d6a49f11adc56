//! What a thing asks of whoever wants it.

use crate::{Domain, Scope, Tier};

/// The terms on which a tool, a resource or a prompt is seen and used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The service it belongs to.
    pub domain: Domain,
    /// The lowest tier that may use it.
    pub tier: Tier,
    /// Every scope that is needed.
    pub scopes: Vec<Scope>,
}

impl Access {
    /// Open to anyone.
    pub fn public(domain: Domain) -> Self {
        Self { domain, tier: Tier::Public, scopes: Vec::new() }
    }

    /// For a tier and those above it, with scopes that the person allowed the program.
    pub fn scoped(domain: Domain, tier: Tier, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self { domain, tier, scopes: scopes.into_iter().collect() }
    }

    /// Whether it is above `public` and names no scope: then every program of such a person could use it, whatever they
    /// allowed it.
    pub fn lacks_scope(&self) -> bool {
        self.tier > Tier::Public && self.scopes.is_empty()
    }

    /// Whether the answer is the same for every caller.
    pub fn is_public(&self) -> bool {
        self.tier == Tier::Public && self.scopes.is_empty()
    }
}
