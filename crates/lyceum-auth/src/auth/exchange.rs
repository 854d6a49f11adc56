//! The token endpoint and its neighbour that takes tokens back.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use lyceum_store::{DbError, grants};
use percent_encoding::percent_decode_str;

use super::Auth;
use crate::{
    audit::Event,
    oauth::{
        Fault, OauthError, Params,
        client::{Client, Proof, SecretMethod, hash_of},
        redeem::{Exchange, ExchangeResult, IssuedTokens},
    },
    scopes::Scopes,
    subject::Subject,
    token::{Kind, Token},
};

/// How a client says who it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// What follows `Authorization: Basic`.
    pub basic: Option<&'a str>,
}

impl Auth {
    /// Exchanges a code or a refresh token.
    pub async fn exchange(
        &self,
        params: &Params,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<IssuedTokens, OauthError> {
        params.each_once()?;
        params.need("grant_type")?;
        let client = self.prove(params, credentials, now)?;
        let exchange = Exchange::read(params, client.id)?;
        match exchange.token.kind() {
            Kind::Refresh => self.refresh(exchange, now).await,
            Kind::Code | Kind::Access | Kind::Key => {
                self.in_transaction(move |tx| exchange.redeem(tx, now), now).await
            }
        }
    }

    async fn refresh(&self, exchange: Exchange, now: Timestamp) -> Result<IssuedTokens, OauthError> {
        let lookup = exchange.clone();
        let stored =
            self.0.db.read(move |tx| lookup.subject(tx, now)).await.map_err(|error| unkept(&error))??;
        let subject = Subject::parse(&stored.grant.subject);
        let subject = subject
            .filter(|subject| !self.0.roles.is_gone(subject))
            .ok_or_else(|| Fault::InvalidGrant.because("whoever granted it is not known any more"))?;
        // Before anything is used up: where the roles can't be read the refresh token stays good.
        let tier = self.0.roles.tier_now(&subject, now).await.map_err(|error| {
            tracing::warn!(error.cause = %error, "could not read roles; refused a token refresh");
            Fault::TemporarilyUnavailable.because("your roles can't be checked right now; retry in a moment")
        })?;
        let key = self.0.key.clone();
        let most = Scopes::of(self.rights(), tier);
        self.in_transaction(move |tx| exchange.refresh(tx, &key, &most, now), now).await
    }

    /// Takes a token back: a refresh token with its whole grant, an access token alone. What is not the client's own, or
    /// not there, is passed over in silence.
    pub async fn revoke(
        &self,
        params: &Params,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<(), OauthError> {
        params.each_once()?;
        let token = params.need("token")?;
        let client = self.prove(params, credentials, now)?;
        let Some(token) = Token::parse(token) else { return Ok(()) };
        let revoked = self.0.db.write(move |tx| {
            let hash = token.hash().0;
            let stored = grants::find_token(tx, &hash)?.filter(|stored| stored.grant.client == client.id);
            match (stored, token.kind()) {
                (Some(stored), Kind::Refresh) => {
                    grants::end(tx, &stored.grant.id)?;
                    Event::revoked(&stored.grant).write(tx, now)
                }
                (Some(_), Kind::Access) => grants::forget(tx, &hash),
                (Some(_), Kind::Code | Kind::Key) | (None, _) => Ok(()),
            }
        });
        revoked.await.map_err(|error| unkept(&error))?;
        self.0.checked.clear();
        Ok(())
    }

    /// Does work in one transaction, with what is to be remembered of it.
    async fn in_transaction<T: Send + 'static>(
        &self,
        work: impl FnOnce(&lyceum_store::Tx<'_>) -> Result<ExchangeResult<T>, DbError> + Send + 'static,
        now: Timestamp,
    ) -> Result<T, OauthError> {
        let done = self.0.db.write(move |tx| {
            let (answer, event) = work(tx)?;
            if let Some(event) = event {
                event.write(tx, now)?;
            }
            Ok(answer)
        });
        let answer = done.await.map_err(|error| unkept(&error))?;
        if answer.is_err() {
            // A grant may have ended with it.
            self.0.checked.clear();
        }
        answer
    }

    /// The client that asks, once it has proven that it is itself.
    fn prove(
        &self,
        params: &Params,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<Client, OauthError> {
        let refused = |text: &str| Fault::InvalidClient.because(text);
        let basic =
            credentials.basic.map(|basic| basic_of(basic).ok_or_else(|| refused("Authorization: not Basic")));
        let basic = basic.transpose()?;
        let id = match (&basic, params.get("client_id")) {
            (Some((id, _)), named) if named.is_none_or(|named| named == id) => id.clone(),
            (Some(_), _) => return Err(refused("client_id is not the one in Authorization")),
            (None, Some(id)) => id.to_owned(),
            (None, None) => return Err(refused("client_id is missing")),
        };
        let client = self.client_by_id(&id, now)?;
        let sent = match (basic, params.get("client_secret")) {
            (Some(_), Some(_)) => return Err(refused("send the secret in one way only")),
            (Some((_, secret)), None) => Some((SecretMethod::ClientSecretBasic, secret)),
            (None, Some(secret)) => Some((SecretMethod::ClientSecretPost, secret.to_owned())),
            (None, None) => None,
        };
        match (&client.proof, sent) {
            (Proof::None, None) => Ok(client),
            (Proof::None, Some(_)) => Err(refused("this client has no secret; leave it out")),
            (Proof::Secret { method, hash }, Some((by, secret)))
                if *method == by && *hash == hash_of(&secret) =>
            {
                Ok(client)
            }
            (Proof::Secret { .. }, _) => Err(refused("the secret is missing, wrong, or sent in another way")),
        }
    }
}

/// Id and secret of `Authorization: Basic`, each percent-encoded in it.
fn basic_of(text: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let plain =
        |part: &str| Some(percent_decode_str(&part.replace('+', " ")).decode_utf8().ok()?.into_owned());
    Some((plain(id)?, plain(secret)?))
}

fn unkept(error: &DbError) -> OauthError {
    tracing::error!(error.cause = %error, "could not store a token request");
    Fault::TemporarilyUnavailable.because("could not store the tokens; retry in a moment")
}
