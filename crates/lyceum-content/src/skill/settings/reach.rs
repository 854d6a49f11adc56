//! What a script may reach beyond its skill. Only whoever runs the server may choose, never a repository.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// What a script that declares `network: true` may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkChoice {
    /// Nothing: such a script is refused.
    None,
    /// Addresses of the public Internet, and the machine's name servers; nothing of this machine or its network.
    #[default]
    Public,
    /// Every address, also of this machine and its network.
    Any,
}

impl NetworkChoice {
    /// The word for pages and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Public => "public",
            Self::Any => "any",
        }
    }
}

/// A folder of the person's that scripts may work in, beside their skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The folder.
    pub path: PathBuf,
    /// What may be done in it.
    pub access: WorkspaceAccess,
}

/// What scripts may do in the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceAccess {
    /// Read its files.
    #[default]
    Read,
    /// Read, write, make and remove its files.
    Write,
}

impl WorkspaceAccess {
    /// The word for pages and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}
