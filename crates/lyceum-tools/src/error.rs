//! Errors of calls, and of building a registry.

use lyceum_model::{Domain, ErrorCode, Tier};

use crate::{Denied, InvalidSchema, mcp::ClientCapabilities};

/// Why a call was refused or failed. The text is for the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no tool of that name for this caller.
    #[error("unknown tool {name:?}; tools/list lists all tools")]
    ToolNotFound {
        /// The requested name.
        name: String,
    },
    /// There is no prompt of that name for this caller.
    #[error("unknown prompt {name:?}; prompts/list lists all prompts")]
    PromptNotFound {
        /// The requested name.
        name: String,
    },
    /// There is no resource with that URI for this caller.
    #[error("unknown resource {uri:?}")]
    ResourceNotFound {
        /// The requested URI.
        uri: String,
    },
    /// No extension that this caller may use has that method.
    #[error("unknown method {name:?}; capabilities.extensions lists the supported extensions")]
    MethodNotFound {
        /// The requested name.
        name: String,
    },
    /// The gate refused the call.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// An argument is missing or does not match the schema.
    #[error("{message}")]
    Invalid {
        /// Path of the field, such as `arguments.query`.
        field: String,
        /// What is wrong; names the field.
        message: String,
    },
    /// The call needs a capability that the client did not declare.
    #[error("the client must support {}", crate::mcp::describe(.needed))]
    ClientCannot {
        /// The missing capabilities.
        needed: Box<ClientCapabilities>,
    },
    /// A server that we depend on failed. Its message is logged, not sent to the caller.
    #[error("{domain} did not answer as expected; try again later")]
    Upstream {
        /// The service that depends on it.
        domain: Domain,
        /// The cause, for the log.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A failure with an error code that the tool chose.
    #[error("{message}")]
    Failed {
        /// The code clients see.
        code: ErrorCode,
        /// What happened and what to do about it, for the caller.
        message: String,
    },
    /// The same, with machine-readable details.
    #[error("{message}")]
    Detailed {
        /// The code clients see.
        code: ErrorCode,
        /// What happened and what to do about it, for the caller.
        message: String,
        /// The details, without secrets.
        details: serde_json::Value,
    },
    /// An internal error. The cause is logged, not sent to the caller.
    #[error("an unexpected error occurred")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ToolNotFound { .. } => ErrorCode::ToolNotFound,
            Self::PromptNotFound { .. } | Self::ResourceNotFound { .. } => ErrorCode::NotFound,
            Self::MethodNotFound { .. } => ErrorCode::MethodNotAllowed,
            Self::Denied(_) => ErrorCode::ScopeMissing,
            Self::Invalid { .. } | Self::ClientCannot { .. } => ErrorCode::ValidationError,
            Self::Upstream { .. } => ErrorCode::UpstreamError,
            Self::Failed { code, .. } | Self::Detailed { code, .. } => *code,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// Creates an error about an argument. The message must name the field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), message: message.into() }
    }

    /// Creates an internal error, with its cause for the log.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// Machine-readable details besides the code: the field, or everything that is missing.
    pub fn details(&self) -> Option<serde_json::Value> {
        match self {
            Self::Invalid { field, .. } => Some(serde_json::json!({ "field": field })),
            Self::Denied(denied) => {
                let mut details = serde_json::json!({ "missingScopes": denied.scopes });
                if let (Some(tier), Some(map)) = (denied.tier, details.as_object_mut()) {
                    map.insert("requiredTier".to_owned(), tier.as_str().into());
                }
                Some(details)
            }
            Self::ToolNotFound { name } | Self::PromptNotFound { name } | Self::MethodNotFound { name } => {
                Some(serde_json::json!({ "name": name }))
            }
            Self::ResourceNotFound { uri } => Some(serde_json::json!({ "uri": uri })),
            Self::Detailed { details, .. } => Some(details.clone()),
            Self::ClientCannot { .. } | Self::Upstream { .. } | Self::Failed { .. } | Self::Internal(_) => {
                None
            }
        }
    }
}

/// Why a registry could not be built. The text is for the operator.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Two entries have the same name.
    #[error("{}", duplicate(.kind, .name, .first.as_str(), .second.as_str()))]
    Duplicate {
        /// Tool, prompt, resource, resource template, extension or method.
        kind: &'static str,
        /// The shared name or URI.
        name: String,
        /// The service that registered it first.
        first: Domain,
        /// The service that registered it again.
        second: Domain,
    },
    /// A schema is invalid.
    #[error("cannot register the tool {name:?}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong with it.
        #[source]
        source: InvalidSchema,
    },
    /// A tool name contains characters that not every client can send.
    #[error("invalid tool name {name:?}: use 1 to 128 characters of A-Z, a-z, 0-9, '_', '-' and '.'")]
    ToolName {
        /// The name.
        name: String,
    },
    /// A scope name is invalid.
    #[error(
        "invalid scope {scope:?}: use 1 to 64 characters of a-z, 0-9, '-', '_', '.' and ':', starting with a letter"
    )]
    Scope {
        /// The name.
        scope: String,
    },
    /// An entry above `public` has no scope, so every client of a person with that tier could use it without their
    /// consent.
    #[error(
        "the {kind} {name:?} requires the tier {tier} but no scope; add the scope that a user must grant"
    )]
    NoScope {
        /// Tool, prompt, resource, resource template, extension or method.
        kind: &'static str,
        /// Its name or URI.
        name: String,
        /// Its tier.
        tier: Tier,
    },
    /// An extension id does not follow the specification.
    #[error(
        "invalid extension id {id:?}: use a vendor domain, a slash and a name, such as \"com.example/notes\""
    )]
    ExtensionId {
        /// The id.
        id: String,
    },
    /// A method name contains characters that not every client can send.
    #[error("invalid method name {name:?}: use 1 to 128 characters of A-Z, a-z, 0-9, '_', '-', '.' and '/'")]
    MethodName {
        /// The name.
        name: String,
    },
    /// A method has the name of a standard method.
    #[error("an extension can't define the method {name:?}: the name is reserved by the protocol; rename it")]
    MethodTaken {
        /// The name.
        name: String,
    },
    /// A resource template is invalid.
    #[error(
        "invalid resource template {template:?}: write variables as {{name}}, or {{+name}} to match '/' too"
    )]
    Template {
        /// The template.
        template: String,
    },
}

/// Suggests the fix. A prefix separates two services, but neither two entries of one service nor URIs.
fn duplicate(kind: &str, name: &str, first: &str, second: &str) -> String {
    let owners = format!("one in the service {first:?} and one in {second:?}");
    match kind {
        _ if first == second => {
            format!("two {kind}s of the service {first:?} are named {name:?}; rename one of them")
        }
        "tool" | "prompt" => format!(
            "two {kind}s are named {name:?}, {owners}; give one of the services a prefix in lyceum.toml, such as\n\n    \
             [{second}]\n    prefix = \"{second}_\"\n"
        ),
        "extension" | "method" => {
            format!(
                "two {kind}s are named {name:?}, {owners}; disable one of the services, or rename one of them"
            )
        }
        _ => format!("two {kind}s are named {name:?}, {owners}; give one of them another URI"),
    }
}
