//! Discovery metadata: RFC 8414 and RFC 9728.

use lyceum_model::Rights;
use serde::Serialize;

use crate::scopes::OFFLINE_ACCESS;

/// Authorization server metadata (RFC 8414).
#[derive(Debug, Clone, Serialize)]
pub struct ServerMetadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: String,
    revocation_endpoint: String,
    scopes_supported: Vec<String>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
    token_endpoint_auth_methods_supported: [&'static str; 3],
    revocation_endpoint_auth_methods_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    authorization_response_iss_parameter_supported: bool,
    client_id_metadata_document_supported: bool,
}

/// Protected resource metadata (RFC 9728).
#[derive(Debug, Clone, Serialize)]
pub struct ResourceMetadata {
    resource: String,
    authorization_servers: [String; 1],
    scopes_supported: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'static str,
}

const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

impl ServerMetadata {
    /// Metadata of the server with this issuer.
    pub(crate) fn of(issuer: &str, rights: &Rights) -> Self {
        let at = |path: &str| format!("{issuer}{path}");
        Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: at("/authorize"),
            token_endpoint: at("/token"),
            registration_endpoint: at("/register"),
            revocation_endpoint: at("/revoke"),
            scopes_supported: scope_names(rights).chain([OFFLINE_ACCESS.to_owned()]).collect(),
            response_types_supported: ["code"],
            response_modes_supported: ["query"],
            grant_types_supported: ["authorization_code", "refresh_token"],
            token_endpoint_auth_methods_supported: METHODS,
            revocation_endpoint_auth_methods_supported: METHODS,
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
            client_id_metadata_document_supported: true,
        }
    }
}

impl ResourceMetadata {
    /// Metadata of a resource of this server.
    pub(crate) fn of(issuer: &str, resource: String, rights: &Rights) -> Self {
        Self {
            resource,
            authorization_servers: [issuer.to_owned()],
            scopes_supported: scope_names(rights).collect(),
            bearer_methods_supported: ["header"],
            resource_name: "lyceum",
        }
    }
}

fn scope_names(rights: &Rights) -> impl Iterator<Item = String> {
    rights.iter().map(|right| right.scope.to_string())
}
