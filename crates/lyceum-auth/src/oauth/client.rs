//! OAuth clients.
//!
//! A client is configured, identified by the URL of its metadata document, or registered dynamically. The id of a
//! registered client *is* its registration, authenticated with an HMAC: registration stores nothing, so nobody can
//! fill the disk with it.

use alloy_primitives::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    oauth::{Fault, OauthError, Redirect},
    seal::{Key, Purpose},
};

/// Maximum number of redirect URIs of a client.
const MAX_REDIRECT_URIS: usize = 10;

/// Maximum length of a registered client id; it is sent in URLs.
const MAX_CLIENT_ID_BYTES: usize = 4096;

/// Maximum length of a displayed name.
const MAX_NAME_CHARS: usize = 80;

/// An OAuth client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Client id.
    pub id: String,
    /// Name given by itself; not verified.
    pub name: Option<String>,
    /// Redirect URIs.
    pub redirects: Vec<Redirect>,
    /// Client authentication.
    pub proof: Proof,
}

/// Client authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// None: a public client, protected by PKCE alone.
    None,
    /// A client secret.
    Secret {
        /// Authentication method.
        method: SecretMethod,
        /// SHA-256 of the secret.
        hash: [u8; 32],
    },
}

/// How a client sends its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretMethod {
    /// In `Authorization: Basic`.
    ClientSecretBasic,
    /// In the form body.
    ClientSecretPost,
}

/// Client metadata of RFC 7591, as far as it is used here.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ClientMetadata {
    /// Redirect URIs.
    pub redirect_uris: Vec<String>,
    /// Display name.
    pub client_name: Option<String>,
    /// Grant types.
    pub grant_types: Option<Vec<String>>,
    /// Response types.
    pub response_types: Option<Vec<String>>,
    /// Client authentication method.
    pub token_endpoint_auth_method: Option<String>,
    /// Scopes it may request.
    pub scope: Option<String>,
    /// Key set.
    pub jwks: Option<serde_json::Value>,
    /// URL of its key set.
    pub jwks_uri: Option<String>,
}

/// Response to a dynamic client registration.
#[derive(Debug, Clone, Serialize)]
pub struct RegistrationResponse {
    /// Client id.
    pub client_id: String,
    /// Issue time in seconds.
    pub client_id_issued_at: i64,
    /// Client secret, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// Expiry of the secret; 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<i64>,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Redirect URIs.
    pub redirect_uris: Vec<Redirect>,
    /// Grant types.
    pub grant_types: [&'static str; 2],
    /// Response types.
    pub response_types: [&'static str; 1],
    /// Client authentication method.
    pub token_endpoint_auth_method: &'static str,
}

/// Payload of a registered client id. The field names are short because it is sent in URLs.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    r: Vec<Redirect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    m: Option<SecretMethod>,
}

impl Proof {
    /// Authentication with a client secret.
    pub fn secret(method: SecretMethod, secret: &str) -> Self {
        Self::Secret { method, hash: hash_of(secret) }
    }
}

impl SecretMethod {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
        }
    }
}

impl Client {
    /// Restores a client from its registered id, if it is valid.
    pub(crate) fn of_registration(key: &Key, id: &str, now: Timestamp) -> Option<Self> {
        let claims: Claims = key.open(Purpose::Client, id, None, now).ok()?;
        let proof = claims.m.map_or(Proof::None, |method| Proof::secret(method, &secret_of(key, id)));
        let redirects = claims.r;
        Some(Self { id: id.to_owned(), name: claims.n, redirects, proof })
    }
}

/// Registers a client.
pub(crate) fn register(
    key: &Key,
    metadata: &ClientMetadata,
    now: Timestamp,
) -> Result<RegistrationResponse, OauthError> {
    let refused = |text: &str| Err(Fault::InvalidClientMetadata.because(text));
    let redirects = redirects_of(metadata)?;
    let method = match metadata.token_endpoint_auth_method.as_deref() {
        None | Some("none") => None,
        Some("client_secret_basic") => Some(SecretMethod::ClientSecretBasic),
        Some("client_secret_post") => Some(SecretMethod::ClientSecretPost),
        Some(_) => {
            return refused(
                "token_endpoint_auth_method must be none, client_secret_basic or client_secret_post",
            );
        }
    };
    check_capabilities(metadata)?;
    if metadata.jwks.is_some() || metadata.jwks_uri.is_some() {
        return refused("jwks and jwks_uri are not supported; omit them");
    }
    let name = metadata.client_name.as_deref().and_then(shown_name);
    let claims = Claims { n: name.clone(), r: redirects.clone(), m: method };
    let client_id = key.seal(Purpose::Client, claims, now);
    if client_id.len() > MAX_CLIENT_ID_BYTES {
        return refused("redirect_uris are too long in total; register fewer or shorter ones");
    }
    let client_secret = method.map(|_| secret_of(key, &client_id));
    Ok(RegistrationResponse {
        client_secret_expires_at: client_secret.as_ref().map(|_| 0),
        client_secret,
        client_id,
        client_id_issued_at: now.as_second(),
        client_name: name,
        redirect_uris: redirects,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method.map_or("none", SecretMethod::as_str),
    })
}

/// Parses the redirect URIs.
pub(crate) fn redirects_of(metadata: &ClientMetadata) -> Result<Vec<Redirect>, OauthError> {
    if metadata.redirect_uris.is_empty() || metadata.redirect_uris.len() > MAX_REDIRECT_URIS {
        return Err(Fault::InvalidRedirectUri.because("redirect_uris: register 1 to 10 URIs"));
    }
    let parse = |text: &String| {
        Redirect::parse(text)
            .map_err(|fault| Fault::InvalidRedirectUri.because(format!("redirect_uris: {fault}")))
    };
    metadata.redirect_uris.iter().map(parse).collect()
}

/// Checks that all grant and response types are supported.
pub(crate) fn check_capabilities(metadata: &ClientMetadata) -> Result<(), OauthError> {
    let are_supported = |requested: &Option<Vec<String>>, supported: &[&str]| {
        requested.as_ref().is_none_or(|all| all.iter().all(|one| supported.contains(&one.as_str())))
    };
    if !are_supported(&metadata.grant_types, &["authorization_code", "refresh_token"]) {
        let text = "grant_types: only authorization_code and refresh_token are supported";
        return Err(Fault::InvalidClientMetadata.because(text));
    }
    if !are_supported(&metadata.response_types, &["code"]) {
        return Err(Fault::InvalidClientMetadata.because("response_types: only code is supported"));
    }
    Ok(())
}

/// Sanitizes a name for display: removes invisible characters and bidirectional controls, and truncates it.
pub(crate) fn shown_name(name: &str) -> Option<String> {
    let is_shown = |c: &char| !c.is_control() && !is_invisible(*c);
    let shown: String = name.chars().filter(is_shown).take(MAX_NAME_CHARS).collect();
    let shown = shown.trim();
    (!shown.is_empty()).then(|| shown.to_owned())
}

/// Whether a character is invisible but can change how others are displayed: Unicode category Cf, line and
/// paragraph separators, blank letters, and the tag plane.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
        | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The SHA-256 of a client's secret.
pub(crate) fn hash_of(secret: &str) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(secret.as_bytes()).into()
}

/// Derives the secret of a registered client.
fn secret_of(key: &Key, id: &str) -> String {
    format!("lyc_cs_{}", hex::encode(key.tag(Purpose::ClientSecret, id.as_bytes())))
}
