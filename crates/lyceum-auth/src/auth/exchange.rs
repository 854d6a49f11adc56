//! The token and revocation endpoints.

use alloy_primitives::hex;
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

/// Client authentication outside the form.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// Credentials of the `Authorization: Basic` header.
    pub basic: Option<&'a str>,
}

impl Auth {
    /// Handles a token request.
    pub async fn exchange(
        &self,
        params: &Params,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<IssuedTokens, OauthError> {
        params.reject_repeated()?;
        params.need("grant_type")?;
        let client = self.authenticate_client(params, credentials, now)?;
        let exchange = Exchange::read(params, client.id)?;
        match exchange.token.kind() {
            Kind::Refresh => self.refresh(exchange, now).await,
            Kind::Code | Kind::Access | Kind::Key => {
                let about = about(&exchange.token);
                self.in_transaction(&about, move |tx| exchange.redeem(tx, now), now).await
            }
        }
    }

    async fn refresh(&self, exchange: Exchange, now: Timestamp) -> Result<IssuedTokens, OauthError> {
        let lookup = exchange.clone();
        let stored = self
            .0
            .db
            .read(move |tx| lookup.validate_refresh(tx, now))
            .await
            .map_err(|error| storage_error(&error))??;
        let subject = Subject::parse(&stored.grant.subject);
        let subject = subject
            .filter(|subject| !self.0.roles.is_removed_key(subject))
            .ok_or_else(|| Fault::InvalidGrant.because("the user of this grant no longer exists"))?;
        // Before the refresh token is consumed: it stays valid if roles can't be read.
        let tier = self.0.roles.tier_now(&subject, now).await.map_err(|error| {
            tracing::warn!(error.cause = %error, "could not read roles; refused a token refresh");
            Fault::TemporarilyUnavailable.because("your roles can't be checked right now; retry in a moment")
        })?;
        let key = self.0.key.clone();
        let allowed = Scopes::of(self.rights(), tier);
        let about = about(&exchange.token);
        self.in_transaction(&about, move |tx| exchange.refresh(tx, &key, &allowed, now), now).await
    }

    /// Revokes a token: a refresh token with its whole grant, an access token alone. Unknown tokens and those of
    /// other clients are ignored (RFC 7009).
    pub async fn revoke(
        &self,
        params: &Params,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<(), OauthError> {
        params.reject_repeated()?;
        let token = params.need("token")?;
        let client = self.authenticate_client(params, credentials, now)?;
        let Some(token) = Token::parse(token) else { return Ok(()) };
        let revoked = self.write(about(&token), move |tx| {
            let hash = token.hash().0;
            let stored = grants::find_token(tx, &hash)?.filter(|stored| stored.grant.client == client.id);
            match (stored, token.kind()) {
                (Some(stored), Kind::Refresh) => {
                    grants::revoke(tx, &stored.grant.id)?;
                    Event::revoked(&stored.grant).write(tx, now)
                }
                (Some(_), Kind::Access) => grants::delete_token(tx, &hash),
                (Some(_), Kind::Code | Kind::Key) | (None, _) => Ok(()),
            }
        });
        revoked.await.map_err(|error| storage_error(&error))?;
        self.0.token_cache.clear();
        Ok(())
    }

    /// Runs work in one transaction, together with its audit event.
    async fn in_transaction<T: Send + 'static>(
        &self,
        about: &str,
        work: impl Fn(&lyceum_store::Tx<'_>) -> Result<ExchangeResult<T>, DbError> + Send + 'static,
        now: Timestamp,
    ) -> Result<T, OauthError> {
        let written = self.write(about, move |tx| {
            let (result, event) = work(tx)?;
            if let Some(event) = event {
                event.write(tx, now)?;
            }
            Ok(result)
        });
        let result = written.await.map_err(|error| storage_error(&error))?;
        if result.is_err() {
            // The grant may have been revoked.
            self.0.token_cache.clear();
        }
        result
    }

    /// Authenticates the client.
    fn authenticate_client(
        &self,
        params: &Params,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<Client, OauthError> {
        let refused = |text: &str| Fault::InvalidClient.because(text);
        let basic = credentials
            .basic
            .map(|basic| parse_basic(basic).ok_or_else(|| refused("malformed Authorization: Basic header")));
        let basic = basic.transpose()?;
        let id = match (&basic, params.get("client_id")) {
            (Some((id, _)), named) if named.is_none_or(|named| named == id) => id.clone(),
            (Some(_), _) => return Err(refused("client_id differs from the Authorization header")),
            (None, Some(id)) => id.to_owned(),
            (None, None) => return Err(refused("client_id is missing")),
        };
        let client = self.client_by_id(&id, now)?;
        let sent = match (basic, params.get("client_secret")) {
            (Some(_), Some(_)) => return Err(refused("use only one client authentication method")),
            (Some((_, secret)), None) => Some((SecretMethod::ClientSecretBasic, secret)),
            (None, Some(secret)) => Some((SecretMethod::ClientSecretPost, secret.to_owned())),
            (None, None) => None,
        };
        match (&client.proof, sent) {
            (Proof::None, None) => Ok(client),
            (Proof::None, Some(_)) => Err(refused("this client is public; send no client_secret")),
            (Proof::Secret { method, hash }, Some((by, secret)))
                if *method == by && *hash == hash_of(&secret) =>
            {
                Ok(client)
            }
            (Proof::Secret { .. }, _) => Err(refused(
                "client authentication failed: secret missing, wrong, or sent by another method than registered",
            )),
        }
    }
}

/// Parses client id and secret of `Authorization: Basic`, each form-urlencoded.
fn parse_basic(text: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let plain =
        |part: &str| Some(percent_decode_str(&part.replace('+', " ")).decode_utf8().ok()?.into_owned());
    Some((plain(id)?, plain(secret)?))
}

/// What redeeming or revoking a token is about: its uses run one after the other.
fn about(token: &Token) -> String {
    format!("token:{}", hex::encode(token.hash().0))
}

fn storage_error(error: &DbError) -> OauthError {
    tracing::error!(error.cause = %error, "could not store a token request");
    Fault::TemporarilyUnavailable.because("could not store the tokens; retry in a moment")
}
