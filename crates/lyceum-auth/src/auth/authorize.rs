//! The authorization endpoint: authorization request → authentication of the user → authorization code.

use std::{net::IpAddr, time::Duration};

use alloy_primitives::{Address, hex};
use jiff::Timestamp;
use lyceum_store::{
    DbError, Tx,
    grants::{self, Grant, NewToken, TokenKind},
    kv::Namespace,
};
use serde::Deserialize;
use tokio::time::timeout;

use super::Auth;
use crate::{
    audit::Event,
    documents::is_document_url,
    ens::Profile,
    oauth::{
        Fault, OauthError, Params,
        client::{Client, ClientMetadata, Proof, RegistrationResponse, register},
        redeem::{CODE_TTL, CodeTerms, GRANT_TTL},
        request::{AuthorizationError, AuthorizationRequest},
    },
    roles::RolesUnavailable,
    scopes::Scopes,
    signin::{ResumeError, SignIn, StartedSignIn},
    siwe::{self, Message, RejectedMessage},
    subject::Subject,
    token::{Kind, Token},
    wallet::{self, SignatureKind},
};

/// Timeout for reading the ENS profile.
const PROFILE_TIMEOUT: Duration = Duration::from_secs(5);

/// Sign-ins waiting for the callback from GitHub, by id.
const GITHUB_SIGN_INS: Namespace = Namespace { name: "at-github", ttl_seconds: Some(10 * 60) };

/// The browser that opens the sign-in page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Visitor<'a> {
    /// Value of its sign-in cookie, if any.
    pub browser: Option<&'a str>,
    /// Client address, if known.
    pub address: Option<IpAddr>,
}

/// A signed SIWE message, as sent by the sign-in page.
#[derive(Debug, Clone, Deserialize)]
pub struct Signature {
    /// The message that was signed.
    pub message: String,
    /// Signature as hex digits with `0x` prefix.
    pub signature: String,
    /// Sealed sign-in state.
    #[serde(rename = "stateId")]
    pub state: String,
}

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInFault {
    /// The sign-in can't be resumed.
    #[error(transparent)]
    Lost(#[from] ResumeError),
    /// The message is invalid.
    #[error(transparent)]
    Unfit(#[from] RejectedMessage),
    /// The address is malformed, or the chain is not supported.
    #[error("`address` must be EIP-55 checksummed, and `chainId` one of {0:?}")]
    Account(Vec<u64>),
    /// The nonce or the sign-in was already used.
    #[error("this sign-in was already used; go back to the client and start again")]
    Used,
    /// Authentication failed: wrong signature, API key or GitHub code.
    #[error("the signature does not match the account")]
    NotSigned,
    /// A chain or GitHub can't be reached.
    #[error("a service that sign-in depends on can't be reached; retry in a moment")]
    Unavailable(#[source] RolesUnavailable),
    /// The database failed.
    #[error("could not store the sign-in; retry in a moment")]
    Unkept(#[from] DbError),
}

impl Auth {
    /// Validates an authorization request and starts a sign-in.
    pub async fn start_authorization(
        &self,
        params: &Params,
        visitor: Visitor<'_>,
        now: Timestamp,
    ) -> Result<StartedSignIn, AuthorizationError> {
        let client = match params.need("client_id") {
            Ok(id) => self.client(id, visitor.address, now).await,
            Err(error) => Err(error),
        };
        let client = client.map_err(AuthorizationError::Shown)?;
        let request = AuthorizationRequest::read(params, &client, &self.0.resources, self.rights())?;
        let no_randomness =
            |_| AuthorizationError::Shown(Fault::ServerError.because("no random bytes available"));
        SignIn::begin(&self.0.key, request, visitor.browser, now).map_err(no_randomness)
    }

    /// Registers a client.
    pub fn register(
        &self,
        metadata: &ClientMetadata,
        now: Timestamp,
    ) -> Result<RegistrationResponse, OauthError> {
        register(&self.0.key, metadata, now)
    }

    /// Finds a client with its redirect URIs, fetching its metadata document if needed.
    async fn client(&self, id: &str, from: Option<IpAddr>, now: Timestamp) -> Result<Client, OauthError> {
        let client = self.client_by_id(id, now)?;
        let is_known = !client.redirects.is_empty();
        if is_known { Ok(client) } else { self.0.documents.client(id, from, now).await }
    }

    /// Finds a client by id without fetching its metadata document. That suffices once the user has agreed: such a
    /// client is public, and its grants are bound to its id.
    pub(super) fn client_by_id(&self, id: &str, now: Timestamp) -> Result<Client, OauthError> {
        if let Some(client) = self.0.clients.iter().find(|client| client.id == id) {
            return Ok(client.clone());
        }
        if is_document_url(id) {
            let (id, redirects) = (id.to_owned(), Vec::new());
            return Ok(Client { id, name: None, redirects, proof: Proof::None });
        }
        let unknown = || Fault::InvalidClient.because("unknown client_id; register at /register");
        Client::of_registration(&self.0.key, id, now).ok_or_else(unknown)
    }

    /// Handles a denial; returns the redirect URL.
    pub async fn deny(
        &self,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        self.consume_denied(&sign_in, now).await?;
        let error = Fault::AccessDenied.because("the user denied access");
        Ok(sign_in.request.error_url(&self.0.issuer, error))
    }

    /// Opens a sign-in in progress, to show its page again.
    pub fn resume(
        &self,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<StartedSignIn, ResumeError> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        let browser = browser.unwrap_or_default().to_owned();
        Ok(StartedSignIn { sign_in, state: state.to_owned(), browser })
    }

    /// Signs in with an API key; returns the redirect URL with the code.
    pub async fn sign_in_with_key(
        &self,
        state: &str,
        browser: Option<&str>,
        key: &str,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        let key = Token::parse(key.trim()).and_then(|key| self.0.keys.get(&key.hash().0));
        let Some(key) = key else {
            let event = Event::sign_in_refused(None, &sign_in.request.client, "key");
            let id = sign_in.id;
            self.write(id.clone(), move |tx| record_refusal(tx, &id, &event, now)).await?;
            return Err(SignInFault::NotSigned);
        };
        self.grant(sign_in, &key.subject(), Profile::default(), "key", None, now).await
    }

    /// Starts a sign-in at GitHub; returns the URL to redirect the browser to.
    pub async fn to_github(
        &self,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        let github = self.0.github.as_ref().ok_or(ResumeError::Unknown)?;
        // The state is too long for a query parameter, so it is stored under its id.
        let (key, state) = (sign_in.id.clone(), state.to_owned());
        self.write(&sign_in.id, move |tx| GITHUB_SIGN_INS.put(tx, &key, state.as_bytes(), now)).await?;
        Ok(github.authorization_url(&self.github_callback(), &sign_in.id))
    }

    /// Handles the callback from GitHub; returns the redirect URL with the code.
    pub async fn from_github(
        &self,
        id: &str,
        code: Option<&str>,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let key = id.to_owned();
        let state = self.write(id, move |tx| GITHUB_SIGN_INS.take(tx, &key, now)).await?;
        let state = state.and_then(|state| String::from_utf8(state).ok()).ok_or(ResumeError::Unknown)?;
        let sign_in = SignIn::open(&self.0.key, &state, browser, now)?;
        let github = self.0.github.as_ref().ok_or(ResumeError::Unknown)?;
        let Some(code) = code else {
            self.consume_denied(&sign_in, now).await?;
            let error = Fault::AccessDenied.because("the user denied access at GitHub");
            return Ok(sign_in.request.error_url(&self.0.issuer, error));
        };
        let user =
            github.user_by_code(code, &self.github_callback()).await.map_err(SignInFault::Unavailable)?;
        let Some(user) = user else {
            let event = Event::sign_in_refused(None, &sign_in.request.client, "github");
            let id = sign_in.id;
            self.write(id.clone(), move |tx| record_refusal(tx, &id, &event, now)).await?;
            return Err(SignInFault::NotSigned);
        };
        let profile = Profile { name: None, avatar: user.avatar_url, github: Some(user.login) };
        self.grant(sign_in, &Subject::GitHub(user.id), profile, "github", None, now).await
    }

    fn github_callback(&self) -> String {
        format!("{}/github/callback", self.0.issuer)
    }

    /// Generates a nonce: valid for five minutes, usable once.
    pub fn nonce(&self, now: Timestamp) -> Result<String, getrandom::Error> {
        siwe::nonce(&self.0.key, now)
    }

    /// Generates the SIWE message that an account signs.
    pub fn message(
        &self,
        state: &str,
        browser: Option<&str>,
        account: (&str, u64),
        nonce: &str,
        now: Timestamp,
    ) -> Result<Message, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        let (address, chain) = account;
        let domain = &self.0.siwe_domain;
        // Accepts any case from wallets; the message has the EIP-55 checksum.
        let address = address.parse::<Address>().ok().filter(|_| domain.chains.contains(&chain));
        let address = address.ok_or_else(|| SignInFault::Account(domain.chains.clone()))?;
        Ok(siwe::write(domain, &sign_in.request, &sign_in.id, address, chain, nonce, now))
    }

    /// Verifies a signed message; returns the redirect URL with the code.
    pub async fn verify(
        &self,
        signed: &Signature,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, &signed.state, browser, now)?;
        let message = siwe::check(&self.0.key, &self.0.siwe_domain, &sign_in, &signed.message, now)?;
        let nonce = message.nonce.clone();
        if self.0.db.read(move |tx| siwe::is_used(tx, &nonce, now)).await? {
            return Err(SignInFault::Used);
        }
        let chain = self.0.chains.get(&message.chain_id).ok_or(RejectedMessage::Chain)?;
        let signature = hex::decode(&signed.signature).unwrap_or_default();
        let verified = wallet::verify(chain, message.address, &signed.message, &signature).await;
        let Some(kind) = verified.map_err(|error| SignInFault::Unavailable(error.into()))? else {
            return self.refuse(sign_in, message, now).await;
        };
        // On another chain, the same contract address may belong to somebody else.
        let other_chain = self.0.roles.chain().filter(|chain| *chain != message.chain_id);
        if let (SignatureKind::Contract, Some(chain)) = (kind, other_chain) {
            return Err(RejectedMessage::ContractElsewhere(chain).into());
        }
        let profile = match &self.0.names {
            Some(names) => {
                timeout(PROFILE_TIMEOUT, names.profile(message.address, now)).await.unwrap_or_default()
            }
            None => Profile::default(),
        };
        let subject = Subject::Account(message.address);
        self.grant(sign_in, &subject, profile, "wallet", Some(message.nonce), now).await
    }

    /// An invalid signature consumes the nonce, to prevent retries.
    async fn refuse(&self, sign_in: SignIn, message: Message, now: Timestamp) -> Result<String, SignInFault> {
        let account = Some(message.address.to_string());
        let event = Event::sign_in_refused(account, &sign_in.request.client, "signature");
        let write = self.write(sign_in.id.clone(), move |tx| {
            siwe::mark_used(tx, &message.nonce, now)?;
            record_refusal(tx, &sign_in.id, &event, now)
        });
        write.await?;
        Err(SignInFault::NotSigned)
    }

    /// Consumes a denied sign-in: it can't be continued or denied again.
    async fn consume_denied(&self, sign_in: &SignIn, now: Timestamp) -> Result<(), SignInFault> {
        let (id, event) = (sign_in.id.clone(), Event::denied(&sign_in.request.client));
        let is_first = self.write(&sign_in.id, move |tx| {
            let is_first = siwe::mark_used(tx, &id, now)?;
            if is_first {
                event.write(tx, now)?;
            }
            Ok(is_first)
        });
        if is_first.await? { Ok(()) } else { Err(SignInFault::Used) }
    }

    /// Stores the grant and its authorization code; returns the redirect URL.
    async fn grant(
        &self,
        sign_in: SignIn,
        subject: &Subject,
        profile: Profile,
        way: &'static str,
        nonce: Option<String>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let tier = self.0.roles.tier_now(subject, now).await.map_err(SignInFault::Unavailable)?;
        let code = Token::random(Kind::Code).map_err(|_| DbError::Closed)?;
        let grant = Grant {
            id: sign_in.id.clone(),
            subject: subject.to_string(),
            client: sign_in.request.client.clone(),
            client_name: sign_in.request.client_name.clone(),
            resource: sign_in.request.resource.clone(),
            // Everything the user agreed to, even beyond their current tier: each token is limited to the tier at
            // the time.
            scopes: sign_in.request.scopes.to_string(),
            facts: serde_json::to_string(&profile).unwrap_or_default(),
            created: now,
            expires: now.saturating_add(GRANT_TTL).unwrap_or(now),
        };
        let given = sign_in.request.scopes.and(&Scopes::of(self.rights(), tier)).to_string();
        let (terms, hash) = (CodeTerms::of(&sign_in.request), code.hash().0);
        let is_first = self.write(&sign_in.id, move |tx| {
            let is_first = consume(tx, &grant.id, nonce.as_deref(), now)?;
            if is_first {
                let expires = now.saturating_add(CODE_TTL).unwrap_or(now);
                let (scopes, facts) = (&given, &terms);
                let token = NewToken { hash: &hash, kind: TokenKind::Code, scopes, facts, expires };
                grants::insert(tx, &grant)?;
                grants::add_token(tx, &grant.id, token)?;
                Event::signed_in(&grant, &given, way).write(tx, now)?;
            }
            Ok(is_first)
        });
        if !is_first.await? {
            return Err(SignInFault::Used);
        }
        Ok(sign_in.request.success_url(&self.0.issuer, code.reveal()))
    }
}

/// Marks the sign-in and the nonce as used; returns whether both were unused.
fn consume(tx: &Tx<'_>, id: &str, nonce: Option<&str>, now: Timestamp) -> Result<bool, DbError> {
    Ok(siwe::mark_used(tx, id, now)? && nonce.map_or(Ok(true), |nonce| siwe::mark_used(tx, nonce, now))?)
}

/// Records a failed authentication, once per sign-in, so that retries can't fill the disk.
fn record_refusal(tx: &Tx<'_>, id: &str, event: &Event, now: Timestamp) -> Result<(), DbError> {
    if siwe::mark_used(tx, &format!("refused {id}"), now)? { event.write(tx, now) } else { Ok(()) }
}
