//! Tiers: trust levels of callers.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Trust level of a caller; each tier includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Anyone, signed in or not.
    Public,
    /// A member of the community.
    Member,
    /// A member who may also write.
    Vibecoder,
    /// The operator of the server, who also sees full health and metrics. Granted only by an API key of the
    /// configuration.
    Operator,
}

impl Tier {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Member => "member",
            Self::Vibecoder => "vibecoder",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
