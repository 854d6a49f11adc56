//! The caller of a request.

use std::collections::BTreeSet;

use crate::{Credential, Scope, Tier};

/// The caller of a request, with tier and scopes. Created once per request, from the presented credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    subject: Option<String>,
    tier: Tier,
    scopes: Scopes,
    credential: Option<Credential>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scopes {
    Every,
    Listed(BTreeSet<Scope>),
}

impl Caller {
    /// A caller with all permissions, for stdio and for `auth.mode = "open"`.
    pub fn trusted() -> Self {
        Self { subject: None, tier: Tier::Operator, scopes: Scopes::Every, credential: None }
    }

    /// A caller without credentials.
    pub fn anonymous() -> Self {
        let scopes = Scopes::Listed(BTreeSet::new());
        Self { subject: None, tier: Tier::Public, scopes, credential: None }
    }

    /// An authenticated caller: the tier is the user's, the scopes are those of the grant. Access above `public`
    /// requires both.
    pub fn known(subject: impl Into<String>, tier: Tier, scopes: impl IntoIterator<Item = Scope>) -> Self {
        let scopes = Scopes::Listed(scopes.into_iter().collect());
        Self { subject: Some(subject.into()), tier, scopes, credential: None }
    }

    /// The same caller, with a credential to act on their behalf during this request.
    pub fn acting_with(self, credential: Credential) -> Self {
        Self { credential: Some(credential), ..self }
    }

    /// The credential to act on the caller's behalf, if they sent one.
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Stable identifier of the caller; `None` if anonymous or trusted.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Whether the caller presented no credentials where they are expected.
    pub fn is_anonymous(&self) -> bool {
        self.subject.is_none() && self.scopes != Scopes::Every
    }

    /// The caller's tier.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The granted scopes; empty for [`Caller::trusted`], which holds all.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        match &self.scopes {
            Scopes::Every => None,
            Scopes::Listed(scopes) => Some(scopes),
        }
        .into_iter()
        .flatten()
    }

    /// Whether the caller holds `scope`.
    pub fn has(&self, scope: &Scope) -> bool {
        match &self.scopes {
            Scopes::Every => true,
            Scopes::Listed(scopes) => scopes.contains(scope),
        }
    }
}
