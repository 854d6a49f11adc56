//! Access requirements of tools, resources and prompts.

use crate::{Domain, Scope, Tier};

/// Access requirements of a tool, a resource or a prompt: who sees it and who may use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The service it belongs to.
    pub domain: Domain,
    /// The lowest tier that may use it.
    pub tier: Tier,
    /// The required scopes; the caller needs all of them.
    pub scopes: Vec<Scope>,
}

impl Access {
    /// Open to everyone.
    pub fn public(domain: Domain) -> Self {
        Self { domain, tier: Tier::Public, scopes: Vec::new() }
    }

    /// Requires a tier or a higher one, and scopes that the user granted to the client.
    pub fn scoped(domain: Domain, tier: Tier, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self { domain, tier, scopes: scopes.into_iter().collect() }
    }

    /// Whether it requires a tier above `public` but no scope: then any client of such a user could use it,
    /// whatever the user granted.
    pub fn lacks_scope(&self) -> bool {
        self.tier > Tier::Public && self.scopes.is_empty()
    }

    /// Whether it is open to everyone, so that the response is the same for all callers.
    pub fn is_public(&self) -> bool {
        self.tier == Tier::Public && self.scopes.is_empty()
    }
}
