//! Network and workspace access of scripts. Only the operator may grant it, never a repository.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// Network access of a script that declares `network: true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkChoice {
    /// None: such scripts are refused.
    None,
    /// Public addresses and the machine's name servers, but neither this machine nor its network.
    #[default]
    Public,
    /// All addresses, including this machine and its network.
    Any,
}

impl NetworkChoice {
    /// The value as it is written in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Public => "public",
            Self::Any => "any",
        }
    }
}

/// A local folder, besides the skill, that scripts may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The folder.
    pub path: PathBuf,
    /// The access granted.
    pub access: WorkspaceAccess,
}

/// Access of scripts to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceAccess {
    /// Read files.
    #[default]
    Read,
    /// Read, create, change and delete files.
    Write,
}

impl WorkspaceAccess {
    /// The value as it is written in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}
