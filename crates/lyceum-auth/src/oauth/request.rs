//! What a client asks of a person: the request that `/authorize` is opened with.
//!
//! A fault is sent back to the client only once its redirect address is known to be good; before that it is shown to
//! the person, for an address that nobody registered may belong to anyone.

use lyceum_model::Rights;
use serde::{Deserialize, Serialize};

use super::{
    Fault, OauthError, Params,
    client::Client,
    redirect::{is_loopback, origin, shown_host},
};
use crate::scopes::Scopes;

/// The longest `state` that is carried.
const MAX_STATE_BYTES: usize = 4096;

/// How many characters an S256 challenge has.
const CHALLENGE_CHARS: usize = 43;

/// A request that is good, but for the person's own answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    /// The client's id.
    pub client: String,
    /// What the client calls itself.
    pub client_name: Option<String>,
    /// Where the code goes.
    pub redirect_uri: String,
    /// What the client wants back as it is.
    pub state: Option<String>,
    /// The SHA-256 of a secret that only the client knows.
    pub challenge: String,
    /// What is asked for.
    pub scopes: Scopes,
    /// What the tokens are for.
    pub resource: String,
}

/// Why a request is not good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationError {
    /// For the person; it goes nowhere.
    Shown(OauthError),
    /// For the client, at its own address.
    Sent(RedirectedError),
}

/// A refusal on its way back to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectedError {
    /// Where it goes.
    pub redirect_uri: String,
    /// What the client wants back as it is.
    pub state: Option<String>,
    /// What is wrong.
    pub error: OauthError,
}

impl RedirectedError {
    /// Whether it goes to a program on the person's own machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.redirect_uri)
    }

    /// Where it goes, as a person should see it.
    pub fn shown_host(&self) -> &str {
        shown_host(&self.redirect_uri)
    }
}

impl AuthorizationRequest {
    /// Reads a request of a client that is known.
    pub(crate) fn read(
        params: &Params,
        client: &Client,
        resources: &[String],
        rights: &Rights,
    ) -> Result<Self, AuthorizationError> {
        let redirect_uri = redirect_of(params, client).map_err(AuthorizationError::Shown)?;
        let state = params.get("state").map(str::to_owned);
        if state.as_ref().is_some_and(|state| state.len() > MAX_STATE_BYTES) {
            let error = Fault::InvalidRequest.because("state has at most 4096 bytes");
            return Err(AuthorizationError::Shown(error));
        }
        let rest = || {
            params.each_once()?;
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

    /// Where the code goes, as a person should see it.
    pub fn shown_host(&self) -> &str {
        shown_host(&self.redirect_uri)
    }

    /// Whether the code goes to a program on the person's own machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.redirect_uri)
    }

    /// The origin that the code goes to, as a policy of a page names it: the scheme alone for other programs.
    pub fn origin(&self) -> String {
        origin(&self.redirect_uri)
    }

    /// The way back with a code.
    pub(crate) fn granted(&self, issuer: &str, code: &str) -> String {
        back(&self.redirect_uri, &[("code", code)], self.state.as_deref(), issuer)
    }

    /// The way back without one.
    pub(crate) fn refused(&self, issuer: &str, error: OauthError) -> String {
        let sent =
            RedirectedError { redirect_uri: self.redirect_uri.clone(), state: self.state.clone(), error };
        sent.address(issuer)
    }
}

impl RedirectedError {
    /// The address with the refusal in it.
    pub fn address(&self, issuer: &str) -> String {
        let query =
            [("error", self.error.error.as_str()), ("error_description", &self.error.error_description)];
        back(&self.redirect_uri, &query, self.state.as_deref(), issuer)
    }
}

/// Puts an answer behind the client's address, and who gives it (RFC 9207).
fn back(redirect_uri: &str, answer: &[(&str, &str)], state: Option<&str>, issuer: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(answer);
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
            let text = "redirect_uri is not one that this client registered";
            Err(Fault::InvalidRequest.because(text))
        }
        (None, [only]) => Ok(only.as_str().to_owned()),
        (None, _) => Err(Fault::InvalidRequest.because("redirect_uri is missing")),
    }
}

fn check_kind(params: &Params) -> Result<(), OauthError> {
    if params.get("request").is_some() {
        return Err(Fault::RequestNotSupported.because("send the parameters themselves"));
    }
    if params.get("request_uri").is_some() {
        return Err(Fault::RequestUriNotSupported.because("send the parameters themselves"));
    }
    match params.need("response_type")? {
        "code" => Ok(()),
        _ => Err(Fault::UnsupportedResponseType.because("response_type: there is code")),
    }
}

fn challenge_of(params: &Params) -> Result<String, OauthError> {
    let challenge = params.need("code_challenge")?;
    if params.get("code_challenge_method") != Some("S256") {
        return Err(Fault::InvalidRequest.because("code_challenge_method: send S256"));
    }
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if challenge.len() != CHALLENGE_CHARS || !challenge.bytes().all(is_good) {
        let text = "code_challenge: send the SHA-256 of the verifier as 43 characters of base64url";
        return Err(Fault::InvalidRequest.because(text));
    }
    Ok(challenge.to_owned())
}

/// The scopes that are asked for, with what follows from them; asking for none is asking for the least.
fn scopes_of(params: &Params, rights: &Rights) -> Result<Scopes, OauthError> {
    let requested = params.get("scope").map(|text| Scopes::parse(text, rights)).transpose();
    let requested = requested.map_err(|unknown| Fault::InvalidScope.because(unknown.to_string()))?;
    Ok(requested
        .filter(|scopes| !scopes.is_empty())
        .map_or_else(Scopes::least, |requested| requested.with_implied()))
}

/// The resource that is asked for: one of ours, and the first of them where none is named.
fn resource_of(params: &Params, resources: &[String]) -> Result<String, OauthError> {
    let (requested, first) = (params.resources(), resources.first());
    match requested {
        [] => first.cloned().ok_or_else(|| Fault::InvalidTarget.because("there is no resource here")),
        [one] if resources.contains(one) => Ok(one.clone()),
        [_] => Err(Fault::InvalidTarget.because("resource is not one of this server")),
        _ => Err(Fault::InvalidTarget.because("resource: send one")),
    }
}
