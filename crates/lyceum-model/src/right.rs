//! The scopes there are: which tier may hold each, and what it allows.
//!
//! A tier is the bundle of its scopes and of those below it. A grant holds scopes, so that a person can let a program do
//! less than they may themselves; which tier a person has is looked up at each request.

use crate::{Scope, Tier};

/// One scope, and whom it is for.
#[derive(Debug)]
pub struct Right {
    /// Its name.
    pub scope: Scope,
    /// The lowest tier that may hold it.
    pub tier: Tier,
    /// What it allows, as the sign-in page says it.
    pub allows: &'static str,
}

/// The least scope: what is open to everyone.
pub const MCP_READ: Scope = Scope::from_static("mcp:read");

/// Whole documents of the knowledge base.
pub const KNOWLEDGE_READ: Scope = Scope::from_static("knowledge:read");

/// Every scope there is.
pub static RIGHTS: [Right; 4] = [
    right("mcp:read", Tier::Public, "Read and search what is open to everyone"),
    right("knowledge:read", Tier::Member, "Read whole documents of the knowledge base"),
    right("sources:refresh", Tier::Vibecoder, "Bring in the newest state of the sources"),
    right("skills:run", Tier::Vibecoder, "Run scripts of skills on the server"),
];

const fn right(scope: &'static str, tier: Tier, allows: &'static str) -> Right {
    Right { scope: Scope::from_static(scope), tier, allows }
}

impl Tier {
    /// Every scope that this tier may hold.
    pub fn scopes(self) -> impl Iterator<Item = Scope> {
        RIGHTS.iter().filter(move |right| right.tier <= self).map(|right| right.scope.clone())
    }
}
