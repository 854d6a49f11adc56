//! Authenticates a request: token → `Caller`.
//!
//! Valid tokens are cached for seconds; the tier of the subject is looked up each time. A revocation by this
//! process takes effect at once, one by another process when the cache entry expires.

use std::{net::IpAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use jiff::{SignedDuration, Timestamp};
use lyceum_model::{Caller, Tier};
use lyceum_store::grants::{self, TokenKind};

use super::Auth;
use crate::{
    oauth::redeem::scopes,
    scopes::Scopes,
    subject::Subject,
    token::{Kind, Token, TokenHash},
};

/// How long the database may take to look up a token.
const LOOK_UP_TIMEOUT: Duration = Duration::from_secs(5);

/// TTL of cached tokens.
const TOKEN_CACHE_TTL: SignedDuration = SignedDuration::from_secs(5);

/// A cached access token.
#[derive(Debug)]
pub(super) struct CachedToken {
    subject: Subject,
    client: String,
    scopes: Scopes,
    resource: String,
    expires: Timestamp,
    checked_at: Timestamp,
    /// Caller of the last request, reused while the subject's tier is unchanged.
    caller: ArcSwapOption<Caller>,
}

/// Why a request is not authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// It needs a token and has none.
    #[error("sign in first")]
    NoToken,
    /// Its token is unknown, expired, revoked or bound to another resource.
    #[error("the token is invalid, expired or issued for another resource; sign in again")]
    BadToken,
    /// The subject's roles can't be read.
    #[error("your roles can't be checked right now; retry in a moment")]
    Unavailable,
}

impl Auth {
    /// Authenticates a request for a resource.
    pub async fn admit(
        &self,
        token: Option<&str>,
        resource: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, AdmissionError> {
        self.admit_from(None, token, resource, now).await
    }

    /// Whether this token would be looked up at GitHub for the first time. Anyone can make up such tokens, so
    /// callers must rate-limit these.
    pub fn is_new(&self, token: &str, now: Timestamp) -> bool {
        let pats = self.0.pats.as_ref().filter(|_| Token::parse(token).is_none());
        pats.is_some_and(|pats| pats.is_new(token, now))
    }

    /// Like [`Auth::admit`], with the client address, for per-address limits.
    pub async fn admit_from(
        &self,
        from: Option<IpAddr>,
        token: Option<&str>,
        resource: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, AdmissionError> {
        let Some(text) = token else {
            return if self.0.anonymous {
                Ok(self.0.anonymous_caller.clone())
            } else {
                Err(AdmissionError::NoToken)
            };
        };
        if let Some(token) = self.cached_token(text, now) {
            return self.admit_token(&token, resource, now).await;
        }
        let Some(token) = Token::parse(text) else {
            let pats = self.0.pats.as_ref().ok_or(AdmissionError::BadToken)?;
            let owner = pats.owner(text, from, now).await?;
            let subject = Subject::GitHub(owner.id);
            // A token issued to an OAuth app elsewhere proves the user's identity, but not that they intended to
            // sign in here.
            let tier = if owner.is_personal { self.tier(&subject, now).await? } else { Tier::Public };
            let caller = self.caller_of(&subject, tier, &Scopes::every(self.rights()));
            return Ok(Arc::new(caller.acting_with(owner.token)));
        };
        match token.kind() {
            Kind::Access => {
                let token = self.look_up(&token, now).await?;
                self.admit_token(&token, resource, now).await
            }
            Kind::Key => {
                let key = self.0.keys.get(&token.hash().0).ok_or(AdmissionError::BadToken)?;
                // With its configured tier: `operator` comes from keys only, never from a grant or a role.
                Ok(Arc::new(Caller::known(key.subject().to_string(), key.tier, self.rights().of(key.tier))))
            }
            Kind::Refresh | Kind::Code => Err(AdmissionError::BadToken),
        }
    }

    /// Client that a token was issued to; `None` for API keys and GitHub tokens.
    pub async fn client_of(&self, token: &str, now: Timestamp) -> Option<String> {
        let token = Token::parse(token).filter(|token| token.kind() == Kind::Access)?;
        self.find_access_token(&token, now).await.ok().map(|token| token.client.clone())
    }

    /// Expiry of a token; `None` for API keys and GitHub tokens.
    pub async fn expires(&self, token: &str, now: Timestamp) -> Option<Timestamp> {
        let token = Token::parse(token).filter(|token| token.kind() == Kind::Access)?;
        self.find_access_token(&token, now).await.ok().map(|token| token.expires)
    }

    /// Builds the caller from the token's scopes and the subject's current tier.
    async fn admit_token(
        &self,
        token: &CachedToken,
        resource: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, AdmissionError> {
        if token.expires <= now || token.resource != resource {
            return Err(AdmissionError::BadToken);
        }
        let tier = grantable(self.tier(&token.subject, now).await?);
        if let Some(caller) = token.caller.load_full().filter(|caller| caller.tier() == tier) {
            return Ok(caller);
        }
        let caller = Arc::new(self.caller_of(&token.subject, tier, &token.scopes));
        token.caller.store(Some(caller.clone()));
        Ok(caller)
    }

    async fn tier(&self, subject: &Subject, now: Timestamp) -> Result<Tier, AdmissionError> {
        self.0.roles.tier(subject, now).await.map_err(|error| {
            tracing::warn!(error.cause = %error, "could not read roles; refused a request");
            AdmissionError::Unavailable
        })
    }

    async fn find_access_token(
        &self,
        token: &Token,
        now: Timestamp,
    ) -> Result<Arc<CachedToken>, AdmissionError> {
        match self.cached_token(token.reveal(), now) {
            Some(known) => Ok(known),
            None => self.look_up(token, now).await,
        }
    }

    /// Returns an access token from the cache. Its checksum was verified when it was inserted.
    fn cached_token(&self, text: &str, now: Timestamp) -> Option<Arc<CachedToken>> {
        if !Kind::Access.is_prefix_of(text) {
            return None;
        }
        let known = self.0.token_cache.get(&TokenHash::of(text))?;
        (now.duration_since(known.checked_at) < TOKEN_CACHE_TTL).then_some(known)
    }

    async fn look_up(&self, token: &Token, now: Timestamp) -> Result<Arc<CachedToken>, AdmissionError> {
        let hash = token.hash();
        let read = self.0.db.read(move |tx| grants::find_token(tx, &hash.0));
        let read =
            tokio::time::timeout(LOOK_UP_TIMEOUT, read).await.map_err(|_| AdmissionError::Unavailable)?;
        let stored = read.map_err(|error| {
            tracing::error!(error.cause = %error, "could not look up a token");
            AdmissionError::Unavailable
        })?;
        let stored =
            stored.filter(|stored| stored.kind == TokenKind::Access).ok_or(AdmissionError::BadToken)?;
        let subject =
            Subject::parse(&stored.grant.subject).filter(|subject| !self.0.roles.is_removed_key(subject));
        let token = Arc::new(CachedToken {
            subject: subject.ok_or(AdmissionError::BadToken)?,
            client: stored.grant.client,
            scopes: scopes(&stored.scopes),
            resource: stored.grant.resource,
            expires: stored.expires,
            checked_at: now,
            caller: ArcSwapOption::empty(),
        });
        self.0.token_cache.insert(hash, token.clone());
        Ok(token)
    }

    /// Builds a caller. The tier alone permits nothing: access above `public` also requires a scope, and the
    /// scopes are limited by both grant and tier.
    fn caller_of(&self, subject: &Subject, tier: Tier, granted: &Scopes) -> Caller {
        let tier = grantable(tier);
        let scopes = granted.with_implied().and(&Scopes::of(self.rights(), tier));
        Caller::known(subject.to_string(), tier, scopes.iter().cloned())
    }
}

/// Caps the tier of a grant: signing in with an operator's key lets a client act for its holder, not operate the
/// server.
fn grantable(tier: Tier) -> Tier {
    tier.min(Tier::Vibecoder)
}
