//! What of a knowledge base is public, and the access rules that follow from it, the same over MCP and REST.

use lyceum_model::{Access, Domain, KNOWLEDGE_READ, Tier};
use schemars::JsonSchema;
use serde::Deserialize;

/// What callers without the tier `member` may read, over MCP and REST alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PublicContent {
    /// Nothing: lists, search and prompts require the tier `member` and the scope `knowledge:read` too, and the
    /// knowledge base is not shown to others.
    Nothing,
    /// Lists, search results with their passages, and definitions of terms. Full documents require the tier `member`
    /// and the scope `knowledge:read`.
    Summaries,
    /// Everything that is published, full documents included.
    All,
}

impl PublicContent {
    /// Access to lists, search, definitions and prompts.
    pub fn summaries(self, domain: &Domain) -> Access {
        match self {
            Self::Nothing => for_members(domain),
            Self::Summaries | Self::All => Access::public(domain.clone()),
        }
    }

    /// Access to full documents.
    pub fn documents(self, domain: &Domain) -> Access {
        match self {
            Self::Nothing | Self::Summaries => for_members(domain),
            Self::All => Access::public(domain.clone()),
        }
    }
}

fn for_members(domain: &Domain) -> Access {
    Access::scoped(domain.clone(), Tier::Member, [KNOWLEDGE_READ])
}

/// What to add to the description of a tool or resource that is not public.
pub(crate) fn member_note(access: &Access) -> &'static str {
    if access.is_public() { "" } else { " Requires member access." }
}
