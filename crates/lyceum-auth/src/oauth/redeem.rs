//! Codes and refresh tokens for new tokens: each exchange is one transaction.
//!
//! Whatever is wrong with a request is found before anything is used up, so a mistake costs the right caller nothing.
//! A code that comes twice, or a refresh token that comes back late, was stolen from somebody: the whole grant ends.
//! What follows from a refresh token is computed from it, so a client that lost our answer may ask again for a moment
//! and gets the same.

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

/// How long a code is good.
pub(crate) const CODE_TTL: SignedDuration = SignedDuration::from_secs(60);

/// How long an access token is good.
pub(crate) const ACCESS_TOKEN_TTL: SignedDuration = SignedDuration::from_hours(1);

/// How long a grant is good, and so the last refresh token of it.
pub(crate) const GRANT_TTL: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How long a refresh token may be sent again by a client that lost the answer.
const REFRESH_REPLAY_WINDOW: SignedDuration = SignedDuration::from_secs(10);

/// Tokens for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedTokens {
    /// For each request.
    pub access: Token,
    /// For the next exchange.
    pub refresh: Token,
    /// How many seconds the access token is good.
    pub expires_in: i64,
    /// What they are good for.
    pub scopes: Scopes,
}

/// What an exchange came to, and what is to be remembered of it.
pub(crate) type ExchangeResult<T> = (Result<T, OauthError>, Option<Event>);

/// What must hold when a code is exchanged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeTerms {
    challenge: String,
    redirect_uri: String,
}

/// A request to exchange something.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// What is exchanged.
    pub(crate) token: Token,
    /// The client that asks, proven to be itself.
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
    /// Reads a request for tokens.
    pub(crate) fn read(params: &Params, client: String) -> Result<Self, OauthError> {
        let (name, kind) = match params.need("grant_type")? {
            "authorization_code" => ("code", Kind::Code),
            "refresh_token" => ("refresh_token", Kind::Refresh),
            _ => {
                let text = "grant_type: there are authorization_code and refresh_token";
                return Err(Fault::UnsupportedGrantType.because(text));
            }
        };
        let token = Token::parse(params.need(name)?).filter(|token| token.kind() == kind);
        let verifier = match kind {
            Kind::Code => Some(params.need("code_verifier")?.to_owned()),
            _ => None,
        };
        Ok(Self {
            token: token.ok_or_else(|| not_good(name))?,
            client,
            verifier,
            redirect_uri: params.get("redirect_uri").map(str::to_owned),
            resources: params.resources().to_vec(),
            scopes: params.get("scope").map(str::to_owned),
        })
    }

    /// Exchanges a code.
    pub(crate) fn redeem(
        &self,
        tx: &Tx<'_>,
        now: Timestamp,
    ) -> Result<ExchangeResult<IssuedTokens>, DbError> {
        let hash = self.token.hash().0;
        let Some(stored) = grants::find_token(tx, &hash)? else { return Ok((Err(not_good("code")), None)) };
        if let Err(error) = self.check(&stored, TokenKind::Code, now).and_then(|()| self.check_code(&stored))
        {
            return Ok((Err(error), None));
        }
        if !grants::use_up(tx, &hash, now)? {
            grants::end(tx, &stored.grant.id)?;
            let error = Fault::InvalidGrant.because("the code was used before; the grant was ended");
            return Ok((Err(error), Some(Event::code_replayed(&stored.grant))));
        }
        let (Ok(access), Ok(refresh)) = (Token::random(Kind::Access), Token::random(Kind::Refresh)) else {
            return Err(DbError::Closed);
        };
        let issued = give(tx, &stored, access, refresh, scopes(&stored.scopes), now)?;
        Ok((Ok(issued), Some(Event::granted(&stored.grant, &stored.scopes))))
    }

    /// Whose grant a refresh token belongs to, where it could be exchanged as things are.
    pub(crate) fn subject(
        &self,
        tx: &Tx<'_>,
        now: Timestamp,
    ) -> Result<Result<StoredToken, OauthError>, DbError> {
        let stored = grants::find_token(tx, &self.token.hash().0)?;
        let stored = stored.ok_or_else(|| not_good("refresh_token"));
        Ok(stored.and_then(|stored| self.check_refresh(&stored, now).map(|_| stored)))
    }

    /// Exchanges a refresh token, for no more than `most`.
    pub(crate) fn refresh(
        &self,
        tx: &Tx<'_>,
        key: &Key,
        most: &Scopes,
        now: Timestamp,
    ) -> Result<ExchangeResult<IssuedTokens>, DbError> {
        let hash = self.token.hash().0;
        let Some(stored) = grants::find_token(tx, &hash)? else {
            return Ok((Err(not_good("refresh_token")), None));
        };
        let wanted = match self.check_refresh(&stored, now) {
            Ok(wanted) => wanted,
            Err(error) => return Ok((Err(error), None)),
        };
        let given = wanted.and(most);
        if self.scopes.is_some() && given.is_empty() {
            let error = Fault::InvalidScope.because("more than the person may do now; ask for less");
            return Ok((Err(error), None));
        }
        let access = Token::after(Kind::Access, &self.token, &key.0);
        let refresh = Token::after(Kind::Refresh, &self.token, &key.0);
        if grants::use_up(tx, &hash, now)? {
            let issued = give(tx, &stored, access, refresh, given, now)?;
            return Ok((Ok(issued), None));
        }
        if let Some(issued) = again(tx, &stored, access, refresh, now)? {
            return Ok((Ok(issued), None));
        }
        grants::end(tx, &stored.grant.id)?;
        let error = Fault::InvalidGrant.because("the refresh token was used before; the grant was ended");
        Ok((Err(error), Some(Event::refresh_reused(&stored.grant))))
    }

    fn check_refresh(&self, stored: &StoredToken, now: Timestamp) -> Result<Scopes, OauthError> {
        self.check(stored, TokenKind::Refresh, now)?;
        let granted = scopes(&stored.grant.scopes);
        let wanted = self.scopes.as_deref().map(|text| granted.part(text));
        match wanted {
            None => Ok(granted),
            Some(Some(wanted)) if wanted.is_empty() => Ok(granted),
            Some(Some(wanted)) => Ok(wanted),
            Some(None) => Err(Fault::InvalidScope.because("more than was granted; ask the person again")),
        }
    }

    /// What must hold for a code and a refresh token alike.
    fn check(&self, stored: &StoredToken, kind: TokenKind, now: Timestamp) -> Result<(), OauthError> {
        let name = if kind == TokenKind::Code { "code" } else { "refresh_token" };
        if stored.kind != kind || stored.grant.client != self.client || stored.expires <= now {
            return Err(not_good(name));
        }
        match self.resources.as_slice() {
            [] => Ok(()),
            [one] if *one == stored.grant.resource => Ok(()),
            _ => Err(Fault::InvalidTarget.because("resource is not the one that was granted")),
        }
    }

    fn check_code(&self, stored: &StoredToken) -> Result<(), OauthError> {
        let Ok(terms) = serde_json::from_str::<CodeTerms>(&stored.facts) else {
            return Err(not_good("code"));
        };
        if self.redirect_uri.as_ref().is_some_and(|uri| *uri != terms.redirect_uri) {
            return Err(Fault::InvalidGrant.because("redirect_uri is not the one that the code was sent to"));
        }
        let verifier = self.verifier.as_deref().unwrap_or_default();
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_well_formed = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_good);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        if !is_well_formed || challenge != terms.challenge {
            return Err(Fault::InvalidGrant.because("code_verifier does not fit the challenge"));
        }
        Ok(())
    }
}

/// The same answer again, for a client that lost it: for a moment, and only while nobody used what it held.
fn again(
    tx: &Tx<'_>,
    stored: &StoredToken,
    access: Token,
    refresh: Token,
    now: Timestamp,
) -> Result<Option<IssuedTokens>, DbError> {
    let is_late = stored.used.is_none_or(|used| now.duration_since(used) > REFRESH_REPLAY_WINDOW);
    let next = grants::find_token(tx, &refresh.hash().0)?.filter(|next| next.used.is_none());
    let given = grants::find_token(tx, &access.hash().0)?;
    let (false, Some(_), Some(given)) = (is_late, next, given) else { return Ok(None) };
    let expires_in = given.expires.duration_since(now).as_secs();
    Ok(Some(IssuedTokens { access, refresh, expires_in, scopes: scopes(&given.scopes) }))
}

/// Keeps new tokens of a grant.
fn give(
    tx: &Tx<'_>,
    stored: &StoredToken,
    access: Token,
    refresh: Token,
    scopes: Scopes,
    now: Timestamp,
) -> Result<IssuedTokens, DbError> {
    let grant = &stored.grant;
    let expires = now.saturating_add(ACCESS_TOKEN_TTL).map_or(grant.expires, |end| end.min(grant.expires));
    let text = scopes.to_string();
    let of_access =
        NewToken { hash: &access.hash().0, kind: TokenKind::Access, scopes: &text, facts: "", expires };
    grants::give(tx, &grant.id, of_access)?;
    let of_refresh = NewToken {
        hash: &refresh.hash().0,
        kind: TokenKind::Refresh,
        scopes: &grant.scopes,
        facts: "",
        expires: grant.expires,
    };
    grants::give(tx, &grant.id, of_refresh)?;
    Ok(IssuedTokens { access, refresh, expires_in: expires.duration_since(now).as_secs(), scopes })
}

/// Scopes as they were written down.
pub(crate) fn scopes(text: &str) -> Scopes {
    serde_json::from_value(text.into()).unwrap_or_default()
}

fn not_good(name: &str) -> OauthError {
    Fault::InvalidGrant.because(format!("{name} is not good, or not for this client"))
}
