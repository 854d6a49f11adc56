//! The gate: the only place that decides what a caller may see and use.
//!
//! Listing and calling go through the same check, over MCP and REST. The endpoints below `/api/v1` use it with their
//! own access rules.

use lyceum_model::{Access, Caller, MCP_READ, Scope, Tier};

/// The scope that a token needs for public entries: a client may do only what the user granted.
static MINIMUM_SCOPES: [Scope; 1] = [MCP_READ];

/// Why the gate refused, with everything that is missing. The knowledge base specification prescribes the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Access denied. This tool requires {}.", self.needs())]
pub struct Denied {
    /// The required tier, if the caller's is too low.
    pub tier: Option<Tier>,
    /// The required scopes that are missing.
    pub scopes: Vec<Scope>,
    /// All required scopes, missing or not: a new authorization replaces the scopes that the client had.
    pub needed: Vec<Scope>,
}

impl Denied {
    /// What is missing, in words: `member access`, or the names of the scopes.
    pub fn needs(&self) -> String {
        // A person of that tier can grant its scopes, so the tier comes first.
        if let Some(tier) = self.tier {
            return format!("{tier} access");
        }
        match self.scopes.as_slice() {
            [] => String::new(),
            [one] => format!("the scope {one}"),
            many => format!("the scopes {}", many.iter().map(Scope::as_str).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Checks whether the caller may use something; the error lists everything that is missing.
pub fn permit(caller: &Caller, access: &Access) -> Result<(), Denied> {
    let is_open_to_a_token = access.is_public() && caller.subject().is_some();
    let needed = if is_open_to_a_token { MINIMUM_SCOPES.as_slice() } else { &access.scopes };
    let tier = (caller.tier() < access.tier).then_some(access.tier);
    let scopes: Vec<Scope> = needed.iter().filter(|scope| !caller.has(scope)).cloned().collect();
    if tier.is_none() && scopes.is_empty() {
        Ok(())
    } else {
        Err(Denied { tier, scopes, needed: needed.to_vec() })
    }
}
