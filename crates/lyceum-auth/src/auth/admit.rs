//! From the token of a request to the caller.
//!
//! A token that was good a moment ago is not looked up again; who it belongs to and what they may do now is found out
//! each time. What this process takes back is forgotten at once, what another one does within seconds.

use std::{net::IpAddr, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use lyceum_model::{Caller, Tier};
use lyceum_store::grants::{self, TokenKind};

use super::Auth;
use crate::{
    oauth::redeem::scopes,
    scopes::Scopes,
    subject::Subject,
    token::{Kind, Token},
};

/// How long a token is taken as it was.
const GOOD_FOR: SignedDuration = SignedDuration::from_secs(5);

/// A token that was looked up.
#[derive(Debug)]
pub(super) struct Checked {
    subject: Subject,
    client: String,
    scopes: Scopes,
    resource: String,
    expires: Timestamp,
    looked: Timestamp,
}

/// Why a request is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAdmitted {
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
    ) -> Result<Caller, NotAdmitted> {
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
    ) -> Result<Caller, NotAdmitted> {
        let Some(token) = token else {
            return if self.0.anonymous { Ok(Caller::anonymous()) } else { Err(NotAdmitted::NoToken) };
        };
        let Some(token) = Token::parse(token) else {
            let pats = self.0.pats.as_ref().ok_or(NotAdmitted::BadToken)?;
            let owner = pats.owner(token, from, now).await?;
            let subject = Subject::GitHub(owner.id);
            // What a person gave to an application elsewhere proves who they are, not that they are here.
            if !owner.is_personal {
                return Ok(self.caller_of(&subject, Tier::Public, &Scopes::every(self.rights())));
            }
            return self.caller(&subject, &Scopes::every(self.rights()), now).await;
        };
        match token.kind() {
            Kind::Access => {
                let checked = self.checked(&token, now)?;
                if checked.expires <= now || checked.resource != resource {
                    return Err(NotAdmitted::BadToken);
                }
                self.caller(&checked.subject, &checked.scopes, now).await
            }
            Kind::Key => {
                let key = self.0.keys.get(&token.hash().0).ok_or(NotAdmitted::BadToken)?;
                // As it is declared: what only a key gives, no grant and no role does.
                Ok(Caller::known(key.subject().to_string(), key.tier, self.rights().of(key.tier)))
            }
            Kind::Refresh | Kind::Code => Err(NotAdmitted::BadToken),
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

    async fn caller(
        &self,
        subject: &Subject,
        scopes: &Scopes,
        now: Timestamp,
    ) -> Result<Caller, NotAdmitted> {
        let tier = self.0.roles.tier(subject, now).await.map_err(|error| {
            tracing::warn!(error.cause = %error, "could not read roles; refused a request");
            NotAdmitted::Unavailable
        })?;
        Ok(self.caller_of(subject, tier, scopes))
    }

    fn checked(&self, token: &Token, now: Timestamp) -> Result<Arc<Checked>, NotAdmitted> {
        let hash = token.hash();
        let known = self.0.checked.get(&hash).filter(|known| now.duration_since(known.looked) < GOOD_FOR);
        if let Some(known) = known {
            return Ok(known);
        }
        // A look by the primary key of a small database takes less than handing it to another thread.
        let kept = self.0.db.read_here(|tx| grants::look(tx, &hash.0)).map_err(|error| {
            tracing::error!(error.cause = %error, "could not look up a token");
            NotAdmitted::Unavailable
        })?;
        let kept = kept.filter(|kept| kept.kind == TokenKind::Access).ok_or(NotAdmitted::BadToken)?;
        let subject = Subject::parse(&kept.grant.subject).filter(|subject| !self.0.roles.is_gone(subject));
        let checked = Arc::new(Checked {
            subject: subject.ok_or(NotAdmitted::BadToken)?,
            client: kept.grant.client,
            scopes: scopes(&kept.scopes),
            resource: kept.grant.resource,
            expires: kept.expires,
            looked: now,
        });
        self.0.checked.insert(hash, checked.clone());
        Ok(checked)
    }

    /// Somebody with a tier, by a grant of those scopes. The tier opens nothing by itself: whatever is above `public` names a
    /// scope, and the scopes are never more than the grant and the tier allow.
    fn caller_of(&self, subject: &Subject, tier: Tier, granted: &Scopes) -> Caller {
        // Whoever signs in with a key of an operator lets a program act for them, not operate the server.
        let tier = tier.min(Tier::Vibecoder);
        let scopes = granted.with_implied().and(&Scopes::of(self.rights(), tier));
        Caller::known(subject.to_string(), tier, scopes.iter().cloned())
    }
}
