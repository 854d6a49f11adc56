//! How far a caller is trusted.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rung of trust; each contains the ones below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Anyone, signed in or not.
    Public,
    /// A member of the community.
    Member,
    /// A member who may also write.
    Vibecoder,
    /// Whoever runs the server: sees health and metrics in full. Only a key of the configuration gives it.
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
