//! Redeems authorization codes and refresh tokens; each exchange is one transaction.
//!
//! A request is validated before anything is consumed, so a mistake doesn't invalidate the token. A replayed code,
//! or a refresh token reused late, was stolen: the whole grant is revoked. The tokens that follow from a refresh
//! token are derived from it, so a client that lost our response may retry for a short time and gets the same
//! tokens.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use lyceum_store::{
    DbError, Tx,
    grants::{self, NewToken, StoredToken, TokenKind},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Fault, OauthError, Params, request::AuthorizationRequest};
use crate::{
    audit::Event,
    scopes::Scopes,
    seal::Key,
    token::{Kind, Token},
};

/// Lifetime of a code.
pub(crate) const CODE_TTL: SignedDuration = SignedDuration::from_secs(60);

/// Lifetime of an access token.
pub(crate) const ACCESS_TOKEN_TTL: SignedDuration = SignedDuration::from_hours(1);

/// Lifetime of a grant, and of its last refresh token.
pub(crate) const GRANT_TTL: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How long a client that lost the response may reuse a refresh token.
const REFRESH_REPLAY_WINDOW: SignedDuration = SignedDuration::from_secs(10);

/// Tokens issued to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedTokens {
    /// Access token.
    pub access: Token,
    /// Refresh token.
    pub refresh: Token,
    /// Lifetime of the access token in seconds.
    pub expires_in: i64,
    /// Granted scopes.
    pub scopes: Scopes,
}

/// Result of an exchange, with its audit event.
pub(crate) type ExchangeResult<T> = (Result<T, OauthError>, Option<Event>);

/// Conditions for redeeming a code.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeTerms {
    challenge: String,
    redirect_uri: String,
}

/// A token request.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// Code or refresh token.
    pub(crate) token: Token,
    /// Authenticated client.
    pub(crate) client: String,
    verifier: Option<String>,
    redirect_uri: Option<String>,
    resources: Vec<String>,
    scopes: Option<String>,
}

impl CodeTerms {
    pub(crate) fn of(request: &AuthorizationRequest) -> String {
        let terms = Self { challenge: request.challenge.clone(), redirect_uri: request.redirect_uri.clone() };
        serde_json::to_string(&terms).unwrap_or_default()
    }
}

impl Exchange {
    /// Parses a token request.
    pub(crate) fn read(params: &Params, client: String) -> Result<Self, OauthError> {
        let (name, kind) = match params.need("grant_type")? {
            "authorization_code" => ("code", Kind::Code),
            "refresh_token" => ("refresh_token", Kind::Refresh),
            _ => {
                let text = "grant_type must be authorization_code or refresh_token";
                return Err(Fault::UnsupportedGrantType.because(text));
            }
        };
        let token = Token::parse(params.need(name)?).filter(|token| token.kind() == kind);
        let verifier = match kind {
            Kind::Code => Some(params.need("code_verifier")?.to_owned()),
            _ => None,
        };
        Ok(Self {
            token: token.ok_or_else(|| invalid_grant(name))?,
            client,
            verifier,
            redirect_uri: params.get("redirect_uri").map(str::to_owned),
            resources: params.resources().to_vec(),
            scopes: params.get("scope").map(str::to_owned),
        })
    }

    /// Redeems an authorization code.
    pub(crate) fn redeem(
        &self,
        tx: &Tx<'_>,
        now: Timestamp,
    ) -> Result<ExchangeResult<IssuedTokens>, DbError> {
        let hash = self.token.hash().0;
        let Some(stored) = grants::find_token(tx, &hash)? else {
            return Ok((Err(invalid_grant("code")), None));
        };
        if let Err(error) =
            self.check_token(&stored, TokenKind::Code, now).and_then(|()| self.check_code(&stored))
        {
            return Ok((Err(error), None));
        }
        if !grants::mark_used(tx, &hash, now)? {
            grants::revoke(tx, &stored.grant.id)?;
            let error = Fault::InvalidGrant.because("the code was already used; the grant was revoked");
            return Ok((Err(error), Some(Event::code_replayed(&stored.grant))));
        }
        let (Ok(access), Ok(refresh)) = (Token::random(Kind::Access), Token::random(Kind::Refresh)) else {
            return Err(DbError::Closed);
        };
        let issued = issue(tx, &stored, access, refresh, scopes(&stored.scopes), now)?;
        Ok((Ok(issued), Some(Event::granted(&stored.grant, &stored.scopes))))
    }

    /// Validates a refresh token without consuming it.
    pub(crate) fn validate_refresh(
        &self,
        tx: &Tx<'_>,
        now: Timestamp,
    ) -> Result<Result<StoredToken, OauthError>, DbError> {
        let stored = grants::find_token(tx, &self.token.hash().0)?;
        let stored = stored.ok_or_else(|| invalid_grant("refresh_token"));
        Ok(stored.and_then(|stored| self.check_refresh(&stored, now).map(|_| stored)))
    }

    /// Redeems a refresh token, for scopes within `allowed`.
    pub(crate) fn refresh(
        &self,
        tx: &Tx<'_>,
        key: &Key,
        allowed: &Scopes,
        now: Timestamp,
    ) -> Result<ExchangeResult<IssuedTokens>, DbError> {
        let hash = self.token.hash().0;
        let Some(stored) = grants::find_token(tx, &hash)? else {
            return Ok((Err(invalid_grant("refresh_token")), None));
        };
        let requested = match self.check_refresh(&stored, now) {
            Ok(requested) => requested,
            Err(error) => return Ok((Err(error), None)),
        };
        let granted = requested.and(allowed);
        if self.scopes.is_some() && granted.is_empty() {
            let error = Fault::InvalidScope
                .because("exceeds the current permissions of the user; request fewer scopes");
            return Ok((Err(error), None));
        }
        let access = Token::derive(Kind::Access, &self.token, &key.0);
        let refresh = Token::derive(Kind::Refresh, &self.token, &key.0);
        if grants::mark_used(tx, &hash, now)? {
            let issued = issue(tx, &stored, access, refresh, granted, now)?;
            return Ok((Ok(issued), None));
        }
        if let Some(issued) = replay(tx, &stored, access, refresh, now)? {
            return Ok((Ok(issued), None));
        }
        grants::revoke(tx, &stored.grant.id)?;
        let error = Fault::InvalidGrant.because("the refresh token was already used; the grant was revoked");
        Ok((Err(error), Some(Event::refresh_reused(&stored.grant))))
    }

    fn check_refresh(&self, stored: &StoredToken, now: Timestamp) -> Result<Scopes, OauthError> {
        self.check_token(stored, TokenKind::Refresh, now)?;
        let granted = scopes(&stored.grant.scopes);
        let requested = self.scopes.as_deref().map(|text| granted.subset(text));
        match requested {
            None => Ok(granted),
            Some(Some(requested)) if requested.is_empty() => Ok(granted),
            Some(Some(requested)) => Ok(requested),
            Some(None) => Err(Fault::InvalidScope.because("exceeds the granted scopes; ask the user again")),
        }
    }

    /// Checks common to codes and refresh tokens.
    fn check_token(&self, stored: &StoredToken, kind: TokenKind, now: Timestamp) -> Result<(), OauthError> {
        let name = if kind == TokenKind::Code { "code" } else { "refresh_token" };
        if stored.kind != kind || stored.grant.client != self.client || stored.expires <= now {
            return Err(invalid_grant(name));
        }
        match self.resources.as_slice() {
            [] => Ok(()),
            [one] if *one == stored.grant.resource => Ok(()),
            _ => Err(Fault::InvalidTarget.because("resource differs from the one that was granted")),
        }
    }

    fn check_code(&self, stored: &StoredToken) -> Result<(), OauthError> {
        let Ok(terms) = serde_json::from_str::<CodeTerms>(&stored.facts) else {
            return Err(invalid_grant("code"));
        };
        if self.redirect_uri.as_ref().is_some_and(|uri| *uri != terms.redirect_uri) {
            return Err(
                Fault::InvalidGrant.because("redirect_uri differs from the one in the authorization request")
            );
        }
        let verifier = self.verifier.as_deref().unwrap_or_default();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_well_formed = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_allowed);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        if !is_well_formed || challenge != terms.challenge {
            return Err(Fault::InvalidGrant.because("code_verifier does not match code_challenge"));
        }
        Ok(())
    }
}

/// Returns the tokens issued before, for a client that lost the response: within the replay window, and only while
/// the next refresh token is unused.
fn replay(
    tx: &Tx<'_>,
    stored: &StoredToken,
    access: Token,
    refresh: Token,
    now: Timestamp,
) -> Result<Option<IssuedTokens>, DbError> {
    let is_late = stored.used.is_none_or(|used| now.duration_since(used) > REFRESH_REPLAY_WINDOW);
    let next = grants::find_token(tx, &refresh.hash().0)?.filter(|next| next.used.is_none());
    let issued = grants::find_token(tx, &access.hash().0)?;
    let (false, Some(_), Some(issued)) = (is_late, next, issued) else { return Ok(None) };
    let expires_in = issued.expires.duration_since(now).as_secs();
    Ok(Some(IssuedTokens { access, refresh, expires_in, scopes: scopes(&issued.scopes) }))
}

/// Stores new tokens of a grant.
fn issue(
    tx: &Tx<'_>,
    stored: &StoredToken,
    access: Token,
    refresh: Token,
    scopes: Scopes,
    now: Timestamp,
) -> Result<IssuedTokens, DbError> {
    let grant = &stored.grant;
    let expires =
        now.saturating_add(ACCESS_TOKEN_TTL).map_or(grant.expires, |expires| expires.min(grant.expires));
    let text = scopes.to_string();
    let access_row =
        NewToken { hash: &access.hash().0, kind: TokenKind::Access, scopes: &text, facts: "", expires };
    grants::add_token(tx, &grant.id, access_row)?;
    let refresh_row = NewToken {
        hash: &refresh.hash().0,
        kind: TokenKind::Refresh,
        scopes: &grant.scopes,
        facts: "",
        expires: grant.expires,
    };
    grants::add_token(tx, &grant.id, refresh_row)?;
    Ok(IssuedTokens { access, refresh, expires_in: expires.duration_since(now).as_secs(), scopes })
}

/// Parses stored scopes.
pub(crate) fn scopes(text: &str) -> Scopes {
    serde_json::from_value(text.into()).unwrap_or_default()
}

fn invalid_grant(name: &str) -> OauthError {
    Fault::InvalidGrant.because(format!("{name} is invalid, expired or issued to another client"))
}
