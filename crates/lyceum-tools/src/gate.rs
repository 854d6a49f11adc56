//! The gate: the one place that decides what a caller may see and use.
//!
//! Listing and calling ask the same question, over MCP and REST; the endpoints below `/api/v1` ask it with their own access.

use lyceum_model::{Access, Caller, MCP_READ, Scope, Tier};

/// What is open to everyone asks a token for this: a program does what it was allowed, and nothing else.
static MINIMUM_SCOPES: [Scope; 1] = [MCP_READ];

/// Why the gate stayed shut, with everything that is missing at once. The text is that of the knowledge base's document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Access denied. This tool requires {}.", self.needs())]
pub struct Denied {
    /// The tier that is needed, where the caller's is too low.
    pub tier: Option<Tier>,
    /// The scopes that are needed and missing.
    pub scopes: Vec<Scope>,
    /// Every scope that is needed, missing or not: what a client asks a person for replaces what it had.
    pub needed: Vec<Scope>,
}

impl Denied {
    /// What is missing, in words: `member access`, or the scopes by name.
    pub fn needs(&self) -> String {
        // Who has the tier can have its scopes.
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

/// Lets the caller through, or says all that is missing.
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
