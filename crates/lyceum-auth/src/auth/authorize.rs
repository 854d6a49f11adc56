//! From the request of a client to the code that it gets: asking the person, and checking who they are.

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
    documents::is_document,
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

/// How long a sign-in waits for what is told of an account elsewhere.
const PROFILE_TIMEOUT: Duration = Duration::from_secs(5);

/// Sign-ins that are at GitHub.
const GITHUB_SIGN_INS: Namespace = Namespace { name: "at-github", seconds: Some(10 * 60) };

/// Who opens the page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Visitor<'a> {
    /// What the browser holds from an earlier visit.
    pub browser: Option<&'a str>,
    /// The address that it comes from, where that is known.
    pub address: Option<IpAddr>,
}

/// What a page sends when the person has signed.
#[derive(Debug, Clone, Deserialize)]
pub struct Signature {
    /// The message, as it was given.
    pub message: String,
    /// The signature, in hexadecimal digits after `0x`.
    pub signature: String,
    /// The sign-in that it is for.
    #[serde(rename = "stateId")]
    pub state: String,
}

/// Why nobody is signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInFault {
    /// There is no such sign-in.
    #[error(transparent)]
    Lost(#[from] ResumeError),
    /// The message is not one that counts.
    #[error(transparent)]
    Unfit(#[from] RejectedMessage),
    /// The account is not written as it should be, or on a chain that is not used here.
    #[error("`address` must be EIP-55 checksummed, and `chainId` one of {0:?}")]
    Account(Vec<u64>),
    /// The nonce was used before.
    #[error("this sign-in was already used; go back to the client and start again")]
    Used,
    /// The account did not sign the message.
    #[error("the signature does not match the account")]
    NotSigned,
    /// Whoever must be asked, a chain or GitHub, can't be.
    #[error("a service that sign-in depends on can't be reached; retry in a moment")]
    Unavailable(#[source] RolesUnavailable),
    /// It can't be written down.
    #[error("could not store the sign-in; retry in a moment")]
    Unkept(#[from] DbError),
}

impl Auth {
    /// Reads the request of a client, and begins to ask the person.
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
            |_| AuthorizationError::Shown(Fault::ServerError.because("the system gives no random bytes"));
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

    /// The client with that id, and where it may send people.
    async fn client(&self, id: &str, from: Option<IpAddr>, now: Timestamp) -> Result<Client, OauthError> {
        let client = self.client_by_id(id, now)?;
        let is_known = !client.redirects.is_empty();
        if is_known { Ok(client) } else { self.0.documents.client(id, from, now).await }
    }

    /// The client with that id. What is in a document does not matter once the person has agreed: its client has no secret,
    /// and what it was given is bound to its id.
    pub(super) fn client_by_id(&self, id: &str, now: Timestamp) -> Result<Client, OauthError> {
        if let Some(client) = self.0.clients.iter().find(|client| client.id == id) {
            return Ok(client.clone());
        }
        if is_document(id) {
            let (id, redirects) = (id.to_owned(), Vec::new());
            return Ok(Client { id, name: None, redirects, proof: Proof::None });
        }
        let unknown = || Fault::InvalidClient.because("client_id is not known here; register at /register");
        Client::of_registration(&self.0.key, id, now).ok_or_else(unknown)
    }

    /// The person said no: where to send them.
    pub async fn deny(
        &self,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        self.end_denied(&sign_in, now).await?;
        let error = Fault::AccessDenied.because("the person said no");
        Ok(sign_in.request.refused(&self.0.issuer, error))
    }

    /// A sign-in that is under way, to be shown once more.
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

    /// Checks a key that the person was given, and gives the client its code: where to send the person.
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
            self.0.db.write(move |tx| record_refusal(tx, &id, &event, now)).await?;
            return Err(SignInFault::NotSigned);
        };
        self.grant(sign_in, &key.subject(), Profile::default(), "key", None, now).await
    }

    /// Where a person signs in with GitHub, to come back to that address.
    pub async fn to_github(
        &self,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, state, browser, now)?;
        let github = self.0.github.as_ref().ok_or(ResumeError::Unknown)?;
        // What is asked may be long, and this travels in an address.
        let (key, state) = (sign_in.id.clone(), state.to_owned());
        self.0.db.write(move |tx| GITHUB_SIGN_INS.put(tx, &key, state.as_bytes(), now)).await?;
        Ok(github.sign_in(&self.github_callback(), &sign_in.id))
    }

    /// A person came back from GitHub: where to send them.
    pub async fn from_github(
        &self,
        id: &str,
        code: Option<&str>,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let key = id.to_owned();
        let state = self.0.db.write(move |tx| GITHUB_SIGN_INS.take(tx, &key, now)).await?;
        let state = state.and_then(|state| String::from_utf8(state).ok()).ok_or(ResumeError::Unknown)?;
        let sign_in = SignIn::open(&self.0.key, &state, browser, now)?;
        let github = self.0.github.as_ref().ok_or(ResumeError::Unknown)?;
        let Some(code) = code else {
            self.end_denied(&sign_in, now).await?;
            let error = Fault::AccessDenied.because("the person said no at GitHub");
            return Ok(sign_in.request.refused(&self.0.issuer, error));
        };
        let person = github.person(code, &self.github_callback()).await.map_err(SignInFault::Unavailable)?;
        let Some(person) = person else {
            let event = Event::sign_in_refused(None, &sign_in.request.client, "github");
            let id = sign_in.id;
            self.0.db.write(move |tx| record_refusal(tx, &id, &event, now)).await?;
            return Err(SignInFault::NotSigned);
        };
        let profile = Profile { name: None, avatar: person.avatar_url, github: Some(person.login) };
        self.grant(sign_in, &Subject::GitHub(person.id), profile, "github", None, now).await
    }

    fn github_callback(&self) -> String {
        format!("{}/github/callback", self.0.issuer)
    }

    /// A nonce that is good for five minutes, once.
    pub fn nonce(&self, now: Timestamp) -> Result<String, getrandom::Error> {
        siwe::nonce(&self.0.key, now)
    }

    /// The message that an account signs to go on with a sign-in.
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
        let place = &self.0.place;
        // Wallets write the letters of an address as they like; what is signed has them as EIP-55 says.
        let address = address.parse::<Address>().ok().filter(|_| place.chains.contains(&chain));
        let address = address.ok_or_else(|| SignInFault::Account(place.chains.clone()))?;
        Ok(siwe::write(place, &sign_in.request, &sign_in.id, address, chain, nonce, now))
    }

    /// Checks what the person signed, and gives the client its code: where to send the person.
    pub async fn verify(
        &self,
        sent: &Signature,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<String, SignInFault> {
        let sign_in = SignIn::open(&self.0.key, &sent.state, browser, now)?;
        let message = siwe::check(&self.0.key, &self.0.place, &sign_in, &sent.message, now)?;
        let nonce = message.nonce.clone();
        if self.0.db.read(move |tx| siwe::is_used(tx, &nonce, now)).await? {
            return Err(SignInFault::Used);
        }
        let chain = self.0.chains.get(&message.chain_id).ok_or(RejectedMessage::Chain)?;
        let signature = hex::decode(&sent.signature).unwrap_or_default();
        let signed = wallet::signed(chain, message.address, &sent.message, &signature).await;
        let Some(by) = signed.map_err(|error| SignInFault::Unavailable(error.into()))? else {
            return self.refuse(sign_in, message, now).await;
        };
        // On another chain somebody else may have the same address for a contract of theirs.
        let elsewhere = self.0.roles.chain().filter(|chain| *chain != message.chain_id);
        if let (SignatureKind::Contract, Some(chain)) = (by, elsewhere) {
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

    /// A signature that is not good uses the nonce up, so that nobody can try many.
    async fn refuse(&self, sign_in: SignIn, message: Message, now: Timestamp) -> Result<String, SignInFault> {
        let account = Some(message.address.to_string());
        let event = Event::sign_in_refused(account, &sign_in.request.client, "signature");
        let write = self.0.db.write(move |tx| {
            siwe::use_up(tx, &message.nonce, now)?;
            record_refusal(tx, &sign_in.id, &event, now)
        });
        write.await?;
        Err(SignInFault::NotSigned)
    }

    /// Ends a sign-in that the person said no to. It can't be gone on with, nor said no to again.
    async fn end_denied(&self, sign_in: &SignIn, now: Timestamp) -> Result<(), SignInFault> {
        let (id, event) = (sign_in.id.clone(), Event::denied(&sign_in.request.client));
        let is_first = self.0.db.write(move |tx| {
            let is_first = siwe::use_up(tx, &id, now)?;
            if is_first {
                event.write(tx, now)?;
            }
            Ok(is_first)
        });
        if is_first.await? { Ok(()) } else { Err(SignInFault::Used) }
    }

    /// Writes down what a person allowed, and makes the code for it.
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
            // What the person agreed to, whatever they may do now: each token is cut to the tier of its moment.
            scopes: sign_in.request.scopes.to_string(),
            facts: serde_json::to_string(&profile).unwrap_or_default(),
            created: now,
            expires: now.saturating_add(GRANT_TTL).unwrap_or(now),
        };
        let given = sign_in.request.scopes.and(&Scopes::of(self.rights(), tier)).to_string();
        let (terms, hash) = (CodeTerms::of(&sign_in.request), code.hash().0);
        let is_first = self.0.db.write(move |tx| {
            let is_first = first_time(tx, &grant.id, nonce.as_deref(), now)?;
            if is_first {
                let expires = now.saturating_add(CODE_TTL).unwrap_or(now);
                let (scopes, facts) = (&given, &terms);
                let token = NewToken { hash: &hash, kind: TokenKind::Code, scopes, facts, expires };
                grants::open(tx, &grant)?;
                grants::give(tx, &grant.id, token)?;
                Event::signed_in(&grant, &given, way).write(tx, now)?;
            }
            Ok(is_first)
        });
        if !is_first.await? {
            return Err(SignInFault::Used);
        }
        Ok(sign_in.request.granted(&self.0.issuer, code.reveal()))
    }
}

/// Whether neither the sign-in nor the nonce was used before; from now on both are.
fn first_time(tx: &Tx<'_>, id: &str, nonce: Option<&str>, now: Timestamp) -> Result<bool, DbError> {
    Ok(siwe::use_up(tx, id, now)? && nonce.map_or(Ok(true), |nonce| siwe::use_up(tx, nonce, now))?)
}

/// Writes down that somebody did not prove who they are: once for each sign-in, so that nobody fills a disk by trying.
fn record_refusal(tx: &Tx<'_>, id: &str, event: &Event, now: Timestamp) -> Result<(), DbError> {
    if siwe::use_up(tx, &format!("refused {id}"), now)? { event.write(tx, now) } else { Ok(()) }
}
