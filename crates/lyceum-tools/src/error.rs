//! Why a call was refused or failed, and why a registry could not be built.

use lyceum_model::{Domain, ErrorCode, Tier};

use crate::{Denied, InvalidSchema, mcp::ClientCapabilities};

/// Why a call was refused or failed. The text is for the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No tool of that name is here for this caller.
    #[error("unknown tool {name:?}; tools/list lists all tools")]
    ToolNotFound {
        /// The name that was asked for.
        name: String,
    },
    /// No prompt of that name is here for this caller.
    #[error("unknown prompt {name:?}; prompts/list lists all prompts")]
    PromptNotFound {
        /// The name that was asked for.
        name: String,
    },
    /// No resource has that address, or none that this caller may read.
    #[error("unknown resource {uri:?}")]
    ResourceNotFound {
        /// The address that was asked for.
        uri: String,
    },
    /// No extension that is here for this caller has that method.
    #[error("unknown method {name:?}; capabilities.extensions lists the supported extensions")]
    MethodNotFound {
        /// The name that was asked for.
        name: String,
    },
    /// The gate stayed shut.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// An argument is missing or not what the schema asks for.
    #[error("{message}")]
    Invalid {
        /// Where it is, such as `arguments.query`.
        field: String,
        /// What is wrong there; names the field.
        message: String,
    },
    /// The work needs something that the client did not say it can do.
    #[error("this needs a client that can answer {}", crate::mcp::describe(.needed))]
    ClientCannot {
        /// What is needed.
        needed: Box<ClientCapabilities>,
    },
    /// A server that we depend on failed. Its own words stay in the log.
    #[error("{domain} did not answer as expected; try again later")]
    Upstream {
        /// Whose server it was.
        domain: Domain,
        /// What it said, for the log.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A failure that the tool reports under one of our codes.
    #[error("{message}")]
    Failed {
        /// The code clients see.
        code: ErrorCode,
        /// What happened and what to do, for the caller.
        message: String,
    },
    /// A fault of ours. The detail stays in the log.
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
            Self::Failed { code, .. } => *code,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// An argument that is not what was asked for; the message must name the field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), message: message.into() }
    }

    /// A fault of ours, with its cause for the log.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// What a program may want to know beside the code: the field, or everything that is missing.
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
            Self::ClientCannot { .. } | Self::Upstream { .. } | Self::Failed { .. } | Self::Internal(_) => {
                None
            }
        }
    }
}

/// Why a registry could not be built. The text is for whoever starts the server.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Two entries have one name.
    #[error("{}", duplicate(.kind, .name, .first.as_str(), .second.as_str()))]
    Duplicate {
        /// Tool, prompt, resource, resource template, extension or method.
        kind: &'static str,
        /// The name or address that both have.
        name: String,
        /// The service that had it first.
        first: Domain,
        /// The service that brought it again.
        second: Domain,
    },
    /// A schema is not one that arguments can be checked against.
    #[error("the tool {name:?} can't be registered")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong.
        #[source]
        source: InvalidSchema,
    },
    /// A tool's name can't be sent by every client.
    #[error("{name:?} can't be a tool's name: write 1 to 128 of A-Z, a-z, 0-9, '_', '-' or '.'")]
    ToolName {
        /// The name.
        name: String,
    },
    /// A scope's name can't be used.
    #[error(
        "{scope:?} is not a scope: write 1 to 64 of a-z, 0-9, '-', '_', '.' or ':', beginning with a letter"
    )]
    Scope {
        /// The name.
        scope: String,
    },
    /// Something above `public` names no scope, so that every program of such a person could use it.
    #[error(
        "the {kind} {name:?} is for the tier {tier} and names no scope; name the one that a person has to allow"
    )]
    NoScope {
        /// Tool, prompt, resource, resource template, extension or method.
        kind: &'static str,
        /// Its name or address.
        name: String,
        /// Its tier.
        tier: Tier,
    },
    /// An extension's id is not one that the specification allows.
    #[error(
        "{id:?} can't be an extension's id: write the vendor's domain, a slash and a name, such as \"com.example/notes\""
    )]
    ExtensionId {
        /// The id.
        id: String,
    },
    /// A method's name can't be sent by every client.
    #[error("{name:?} can't be a method's name: write 1 to 128 of A-Z, a-z, 0-9, '_', '-', '.' or '/'")]
    MethodName {
        /// The name.
        name: String,
    },
    /// A method has the name of one of the protocol's own.
    #[error("an extension can't have the method {name:?}: it is the protocol's own; give it another name")]
    MethodTaken {
        /// The name.
        name: String,
    },
    /// A template is not one that addresses can be matched against.
    #[error("{template:?} is not a resource template: write variables as {{name}}, or {{+name}} to span '/'")]
    Template {
        /// The template.
        template: String,
    },
}

/// Says what to write: a prefix tells two services apart, but neither two things of one service nor addresses.
fn duplicate(kind: &str, name: &str, first: &str, second: &str) -> String {
    let whose = format!("one of the service {first:?} and one of {second:?}");
    match kind {
        _ if first == second => {
            format!("two {kind}s of the service {first:?} are named {name:?}; give one of them another name")
        }
        "tool" | "prompt" => format!(
            "two {kind}s are named {name:?}, {whose}; give one of the services a prefix in lyceum.toml, such as\n\n    \
             [{second}]\n    prefix = \"{second}_\"\n"
        ),
        "extension" | "method" => {
            format!(
                "two {kind}s are named {name:?}, {whose}; turn one of the services off, or name one of them otherwise"
            )
        }
        _ => format!("two {kind}s are named {name:?}, {whose}; give one of them another address"),
    }
}
