//! Authorization requests: the query of `/authorize`.
//!
//! An error is redirected to the client only once its redirect URI is validated; before that it is shown to the
//! user, because an unregistered URI may belong to anyone.

use lyceum_model::Rights;
use serde::{Deserialize, Serialize};

use super::{
    Fault, OauthError, Params,
    client::Client,
    redirect::{is_loopback, origin, shown_host},
};
use crate::scopes::Scopes;

/// Maximum length of `state`.
const MAX_STATE_BYTES: usize = 4096;

/// Length of an S256 code challenge.
const CHALLENGE_CHARS: usize = 43;

/// A validated authorization request, pending the user's consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    /// Client id.
    pub client: String,
    /// Name of the client, as given by itself.
    pub client_name: Option<String>,
    /// Redirect URI.
    pub redirect_uri: String,
    /// `state`, returned unchanged.
    pub state: Option<String>,
    /// PKCE code challenge (S256).
    pub challenge: String,
    /// Requested scopes.
    pub scopes: Scopes,
    /// Resource that the tokens are for.
    pub resource: String,
}

/// Why an authorization request is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationError {
    /// Shown to the user, not redirected.
    Shown(OauthError),
    /// Redirected to the client.
    Sent(RedirectedError),
}

/// An error that is redirected to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectedError {
    /// Redirect URI.
    pub redirect_uri: String,
    /// `state`, returned unchanged.
    pub state: Option<String>,
    /// The error.
    pub error: OauthError,
}

impl RedirectedError {
    /// Whether the redirect URI is loopback.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.redirect_uri)
    }

    /// Redirect host, for display.
    pub fn shown_host(&self) -> &str {
        shown_host(&self.redirect_uri)
    }
}

impl AuthorizationRequest {
    /// Validates a request of a known client.
    pub(crate) fn read(
        params: &Params,
        client: &Client,
        resources: &[String],
        rights: &Rights,
    ) -> Result<Self, AuthorizationError> {
        let redirect_uri = redirect_of(params, client).map_err(AuthorizationError::Shown)?;
        let state = params.get("state").map(str::to_owned);
        if state.as_ref().is_some_and(|state| state.len() > MAX_STATE_BYTES) {
            let error = Fault::InvalidRequest.because("state must have at most 4096 bytes");
            return Err(AuthorizationError::Shown(error));
        }
        let rest = || {
            params.reject_repeated()?;
            check_kind(params)?;
            let challenge = challenge_of(params)?;
            let scopes = scopes_of(params, rights)?;
            let resource = resource_of(params, resources)?;
            Ok((challenge, scopes, resource))
        };
        match rest() {
            Err(error) => Err(AuthorizationError::Sent(RedirectedError { redirect_uri, state, error })),
            Ok((challenge, scopes, resource)) => Ok(Self {
                client: client.id.clone(),
                client_name: client.name.clone(),
                redirect_uri,
                state,
                challenge,
                scopes,
                resource,
            }),
        }
    }

    /// Redirect host, for display.
    pub fn shown_host(&self) -> &str {
        shown_host(&self.redirect_uri)
    }

    /// Whether the redirect URI is loopback.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.redirect_uri)
    }

    /// Origin of the redirect URI, for the Content Security Policy; only the scheme for native apps.
    pub fn origin(&self) -> String {
        origin(&self.redirect_uri)
    }

    /// Redirect URL with a code.
    pub(crate) fn success_url(&self, issuer: &str, code: &str) -> String {
        response_url(&self.redirect_uri, &[("code", code)], self.state.as_deref(), issuer)
    }

    /// Redirect URL with an error.
    pub(crate) fn error_url(&self, issuer: &str, error: OauthError) -> String {
        let sent =
            RedirectedError { redirect_uri: self.redirect_uri.clone(), state: self.state.clone(), error };
        sent.address(issuer)
    }
}

impl RedirectedError {
    /// Redirect URL with the error.
    pub fn address(&self, issuer: &str) -> String {
        let query =
            [("error", self.error.error.as_str()), ("error_description", &self.error.error_description)];
        response_url(&self.redirect_uri, &query, self.state.as_deref(), issuer)
    }
}

/// Appends response parameters, `state` and `iss` (RFC 9207) to the redirect URI.
fn response_url(redirect_uri: &str, params: &[(&str, &str)], state: Option<&str>, issuer: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(params);
    query.extend_pairs(state.map(|state| ("state", state)));
    query.append_pair("iss", issuer);
    let separator = match redirect_uri.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    [redirect_uri, separator, &query.finish()].concat()
}

fn redirect_of(params: &Params, client: &Client) -> Result<String, OauthError> {
    match (params.get("redirect_uri"), client.redirects.as_slice()) {
        (Some(requested), registered) if registered.iter().any(|redirect| redirect.allows(requested)) => {
            Ok(requested.to_owned())
        }
        (Some(_), _) => {
            let text = "redirect_uri is not registered for this client";
            Err(Fault::InvalidRequest.because(text))
        }
        (None, [only]) => Ok(only.as_str().to_owned()),
        (None, _) => Err(Fault::InvalidRequest.because("redirect_uri is missing")),
    }
}

fn check_kind(params: &Params) -> Result<(), OauthError> {
    if params.get("request").is_some() {
        return Err(Fault::RequestNotSupported.because("send the parameters in the query"));
    }
    if params.get("request_uri").is_some() {
        return Err(Fault::RequestUriNotSupported.because("send the parameters in the query"));
    }
    match params.need("response_type")? {
        "code" => Ok(()),
        _ => Err(Fault::UnsupportedResponseType.because("response_type must be code")),
    }
}

fn challenge_of(params: &Params) -> Result<String, OauthError> {
    let challenge = params.need("code_challenge")?;
    if params.get("code_challenge_method") != Some("S256") {
        return Err(Fault::InvalidRequest.because("code_challenge_method must be S256"));
    }
    let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if challenge.len() != CHALLENGE_CHARS || !challenge.bytes().all(is_base64url) {
        let text = "code_challenge must be the SHA-256 of the verifier as 43 characters of base64url";
        return Err(Fault::InvalidRequest.because(text));
    }
    Ok(challenge.to_owned())
}

/// Parses the requested scopes and adds implied ones; the default is the minimum.
fn scopes_of(params: &Params, rights: &Rights) -> Result<Scopes, OauthError> {
    let requested = params.get("scope").map(|text| Scopes::parse(text, rights)).transpose();
    let requested = requested.map_err(|unknown| Fault::InvalidScope.because(unknown.to_string()))?;
    Ok(requested
        .filter(|scopes| !scopes.is_empty())
        .map_or_else(Scopes::minimal, |requested| requested.with_implied()))
}

/// Validates the requested resource; the default is the first of the server.
fn resource_of(params: &Params, resources: &[String]) -> Result<String, OauthError> {
    let (requested, first) = (params.resources(), resources.first());
    match requested {
        [] => first.cloned().ok_or_else(|| Fault::InvalidTarget.because("this server has no resource")),
        [one] if resources.contains(one) => Ok(one.clone()),
        [_] => Err(Fault::InvalidTarget.because("resource is not served here")),
        _ => Err(Fault::InvalidTarget.because("send resource only once")),
    }
}
