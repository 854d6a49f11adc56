//! From the token of a request to the caller.
//!
//! A token that was good a moment ago is not looked up again; who it belongs to and what they may do now is found out
//! each time. What this process takes back is forgotten at once, what another one does within seconds.

use std::{net::IpAddr, sync::Arc};

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

/// How long a token is taken as it was.
const TOKEN_CACHE_TTL: SignedDuration = SignedDuration::from_secs(5);

/// A token that was looked up.
#[derive(Debug)]
pub(super) struct CachedToken {
    subject: Subject,
    client: String,
    scopes: Scopes,
    resource: String,
    expires: Timestamp,
    checked_at: Timestamp,
    /// The caller that it made of the last request, used again while its holder has the same tier.
    caller: ArcSwapOption<Caller>,
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// It has no token, and needs one.
    #[error("sign in first")]
    NoToken,
    /// Its token is not good: not one of ours, over, taken back, or for another resource.
    #[error("the token is invalid, expired or issued for another resource; sign in again")]
    BadToken,
    /// What its holder may do can't be found out.
    #[error("your roles can't be checked right now; retry in a moment")]
    Unavailable,
}

impl Auth {
    /// Who sends a request for a resource with that token.
    pub async fn admit(
        &self,
        token: Option<&str>,
        resource: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, AdmissionError> {
        self.admit_from(None, token, resource, now).await
    }

    /// Whether another server would have to be asked about a token that nobody has shown before. Anybody can make such
    /// tokens up, so a door counts these.
    pub fn is_new(&self, token: &str, now: Timestamp) -> bool {
        let pats = self.0.pats.as_ref().filter(|_| Token::parse(token).is_none());
        pats.is_some_and(|pats| pats.is_new(token, now))
    }

    /// The same, where it is known which address the request came from.
    pub async fn admit_from(
        &self,
        from: Option<IpAddr>,
        token: Option<&str>,
        resource: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, AdmissionError> {
        let Some(text) = token else {
            return if self.0.anonymous { Ok(self.0.stranger.clone()) } else { Err(AdmissionError::NoToken) };
        };
        if let Some(checked) = self.seen(text, now) {
            return self.admit_checked(&checked, resource, now).await;
        }
        let Some(token) = Token::parse(text) else {
            let pats = self.0.pats.as_ref().ok_or(AdmissionError::BadToken)?;
            let owner = pats.owner(text, from, now).await?;
            let subject = Subject::GitHub(owner.id);
            // What a person gave to an application elsewhere proves who they are, not that they are here.
            if !owner.is_personal {
                return Ok(Arc::new(self.caller_of(&subject, Tier::Public, &Scopes::every(self.rights()))));
            }
            let tier = self.tier(&subject, now).await?;
            return Ok(Arc::new(self.caller_of(&subject, tier, &Scopes::every(self.rights()))));
        };
        match token.kind() {
            Kind::Access => {
                let checked = self.look_up(&token, now)?;
                self.admit_checked(&checked, resource, now).await
            }
            Kind::Key => {
                let key = self.0.keys.get(&token.hash().0).ok_or(AdmissionError::BadToken)?;
                // As it is declared: what only a key gives, no grant and no role does.
                Ok(Arc::new(Caller::known(key.subject().to_string(), key.tier, self.rights().of(key.tier))))
            }
            Kind::Refresh | Kind::Code => Err(AdmissionError::BadToken),
        }
    }

    /// The program that a token was given to; none where it is a key, or a token of GitHub.
    pub fn client_of(&self, token: &str, now: Timestamp) -> Option<String> {
        let token = Token::parse(token).filter(|token| token.kind() == Kind::Access)?;
        self.checked(&token, now).ok().map(|checked| checked.client.clone())
    }

    /// When a token ends by itself; nothing where it is a key, or a token of GitHub.
    pub fn expires(&self, token: &str, now: Timestamp) -> Option<Timestamp> {
        let token = Token::parse(token).filter(|token| token.kind() == Kind::Access)?;
        self.checked(&token, now).ok().map(|checked| checked.expires)
    }

    /// Who a token makes of a request: what its grant and the tier of its holder at this moment allow.
    async fn admit_checked(
        &self,
        checked: &CachedToken,
        resource: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, AdmissionError> {
        if checked.expires <= now || checked.resource != resource {
            return Err(AdmissionError::BadToken);
        }
        let tier = grantable(self.tier(&checked.subject, now).await?);
        if let Some(caller) = checked.caller.load_full().filter(|caller| caller.tier() == tier) {
            return Ok(caller);
        }
        let caller = Arc::new(self.caller_of(&checked.subject, tier, &checked.scopes));
        checked.caller.store(Some(caller.clone()));
        Ok(caller)
    }

    async fn tier(&self, subject: &Subject, now: Timestamp) -> Result<Tier, AdmissionError> {
        self.0.roles.tier(subject, now).await.map_err(|error| {
            tracing::warn!(error.cause = %error, "could not read roles; refused a request");
            AdmissionError::Unavailable
        })
    }

    fn checked(&self, token: &Token, now: Timestamp) -> Result<Arc<CachedToken>, AdmissionError> {
        self.seen(token.reveal(), now).map_or_else(|| self.look_up(token, now), Ok)
    }

    /// An access token that was looked up a moment ago. Its check digits were right then.
    fn seen(&self, text: &str, now: Timestamp) -> Option<Arc<CachedToken>> {
        if !Kind::Access.begins(text) {
            return None;
        }
        let known = self.0.checked.get(&TokenHash::of(text))?;
        (now.duration_since(known.checked_at) < TOKEN_CACHE_TTL).then_some(known)
    }

    fn look_up(&self, token: &Token, now: Timestamp) -> Result<Arc<CachedToken>, AdmissionError> {
        let hash = token.hash();
        // A look by the primary key of a small database takes less than handing it to another thread.
        let stored = self.0.db.read_here(|tx| grants::find_token(tx, &hash.0)).map_err(|error| {
            tracing::error!(error.cause = %error, "could not look up a token");
            AdmissionError::Unavailable
        })?;
        let stored =
            stored.filter(|stored| stored.kind == TokenKind::Access).ok_or(AdmissionError::BadToken)?;
        let subject = Subject::parse(&stored.grant.subject).filter(|subject| !self.0.roles.is_gone(subject));
        let checked = Arc::new(CachedToken {
            subject: subject.ok_or(AdmissionError::BadToken)?,
            client: stored.grant.client,
            scopes: scopes(&stored.scopes),
            resource: stored.grant.resource,
            expires: stored.expires,
            checked_at: now,
            caller: ArcSwapOption::empty(),
        });
        self.0.checked.insert(hash, checked.clone());
        Ok(checked)
    }

    /// Somebody with a tier, by a grant of those scopes. The tier opens nothing by itself: whatever is above `public` names a
    /// scope, and the scopes are never more than the grant and the tier allow.
    fn caller_of(&self, subject: &Subject, tier: Tier, granted: &Scopes) -> Caller {
        let tier = grantable(tier);
        let scopes = granted.with_implied().and(&Scopes::of(self.rights(), tier));
        Caller::known(subject.to_string(), tier, scopes.iter().cloned())
    }
}

/// The tier that a grant of somebody can have. Whoever signs in with a key of an operator lets a program act for them, not operate
/// the server.
fn grantable(tier: Tier) -> Tier {
    tier.min(Tier::Vibecoder)
}
