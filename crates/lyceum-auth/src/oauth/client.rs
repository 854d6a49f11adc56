//! Programs that ask on behalf of people.
//!
//! A client is known in one of three ways: the configuration names it, its id is the address of a document about it, or
//! it registered, and then its id *is* what it registered, sealed. So registering writes nothing, and nobody can fill a
//! disk with it.

use alloy_primitives::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    oauth::{Fault, OauthError, Redirect},
    seal::{Key, Purpose},
};

/// How many redirect addresses a client may have.
const MAX_REDIRECT_URIS: usize = 10;

/// The longest id that a registration may come to; it travels in addresses.
const MAX_CLIENT_ID_BYTES: usize = 4096;

/// The longest name that is shown.
const MAX_NAME_CHARS: usize = 80;

/// A program that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// What it calls itself; nobody checked it.
    pub name: Option<String>,
    /// Where codes may be sent.
    pub redirects: Vec<Redirect>,
    /// How it proves that it is itself.
    pub proof: Proof,
}

/// How a client proves that it is itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It can't keep a secret, so PKCE is all there is.
    None,
    /// By a secret, sent that way.
    Secret {
        /// How it is sent.
        method: SecretMethod,
        /// The secret's SHA-256.
        hash: [u8; 32],
    },
}

/// How a client sends its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretMethod {
    /// In `Authorization: Basic`.
    ClientSecretBasic,
    /// In the form.
    ClientSecretPost,
}

/// What a client says of itself: RFC 7591, as far as it matters here.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ClientMetadata {
    /// Where codes may be sent.
    pub redirect_uris: Vec<String>,
    /// Its name.
    pub client_name: Option<String>,
    /// What it can exchange.
    pub grant_types: Option<Vec<String>>,
    /// What it can ask for.
    pub response_types: Option<Vec<String>>,
    /// How it proves that it is itself.
    pub token_endpoint_auth_method: Option<String>,
    /// The scopes that it may ask for.
    pub scope: Option<String>,
    /// Its keys.
    pub jwks: Option<serde_json::Value>,
    /// Where its keys are.
    pub jwks_uri: Option<String>,
}

/// The answer to a registration.
#[derive(Debug, Clone, Serialize)]
pub struct RegistrationResponse {
    /// The id, from now on.
    pub client_id: String,
    /// When it was given, in seconds.
    pub client_id_issued_at: i64,
    /// The secret, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// When the secret ends; 0 is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<i64>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Where codes may be sent.
    pub redirect_uris: Vec<Redirect>,
    /// What it can exchange.
    pub grant_types: [&'static str; 2],
    /// What it can ask for.
    pub response_types: [&'static str; 1],
    /// How it proves that it is itself.
    pub token_endpoint_auth_method: &'static str,
}

/// What is sealed into the id of a registered client. Short names, for it travels in addresses.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    r: Vec<Redirect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    m: Option<SecretMethod>,
}

impl Proof {
    /// By a secret, sent that way.
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
    /// The client that a registration made, if the id is one of ours.
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
                "token_endpoint_auth_method: take none, client_secret_basic or client_secret_post",
            );
        }
    };
    check_capabilities(metadata)?;
    if metadata.jwks.is_some() || metadata.jwks_uri.is_some() {
        return refused("jwks: keys of clients are not used here; leave them out");
    }
    let name = metadata.client_name.as_deref().and_then(shown_name);
    let claims = Claims { n: name.clone(), r: redirects.clone(), m: method };
    let client_id = key.seal(Purpose::Client, claims, now);
    if client_id.len() > MAX_CLIENT_ID_BYTES {
        return refused("redirect_uris: they are too long together; register fewer or shorter ones");
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

/// The redirect addresses, each of which must be good.
pub(crate) fn redirects_of(metadata: &ClientMetadata) -> Result<Vec<Redirect>, OauthError> {
    if metadata.redirect_uris.is_empty() || metadata.redirect_uris.len() > MAX_REDIRECT_URIS {
        return Err(Fault::InvalidRedirectUri.because("redirect_uris: register 1 to 10 addresses"));
    }
    let parse = |text: &String| {
        Redirect::parse(text)
            .map_err(|fault| Fault::InvalidRedirectUri.because(format!("redirect_uris: {fault}")))
    };
    metadata.redirect_uris.iter().map(parse).collect()
}

/// Whether the client can do what is done here, and nothing else is wanted.
pub(crate) fn check_capabilities(metadata: &ClientMetadata) -> Result<(), OauthError> {
    let known = |wanted: &Option<Vec<String>>, known: &[&str]| {
        wanted.as_ref().is_none_or(|wanted| wanted.iter().all(|one| known.contains(&one.as_str())))
    };
    if !known(&metadata.grant_types, &["authorization_code", "refresh_token"]) {
        let text = "grant_types: there are authorization_code and refresh_token";
        return Err(Fault::InvalidClientMetadata.because(text));
    }
    if !known(&metadata.response_types, &["code"]) {
        return Err(Fault::InvalidClientMetadata.because("response_types: there is code"));
    }
    Ok(())
}

/// A name as it can be shown: only letters that are seen, in the order they stand in, and not too many.
pub(crate) fn shown_name(name: &str) -> Option<String> {
    let is_shown = |letter: &char| !letter.is_control() && !is_unseen(*letter);
    let shown: String = name.chars().filter(is_shown).take(MAX_NAME_CHARS).collect();
    let shown = shown.trim();
    (!shown.is_empty()).then(|| shown.to_owned())
}

/// Whether a letter is not seen itself, but changes how others are: the category Cf of Unicode, the ends of lines and
/// paragraphs, letters that are drawn as nothing, and the planes of tags.
fn is_unseen(letter: char) -> bool {
    matches!(letter,
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

/// The secret that belongs to a registered id.
fn secret_of(key: &Key, id: &str) -> String {
    format!("lyc_cs_{}", hex::encode(key.code(Purpose::ClientSecret, id.as_bytes())))
}
