//! Sign-In with Ethereum: nonces, and generation and validation of messages.
//!
//! The server generates the message and can generate it again, so it needn't store it: the signed message must
//! match byte by byte. A nonce contains its expiry and an HMAC; only used nonces are stored.

mod message;

use alloy_primitives::{Address, hex};
use jiff::{SignedDuration, Timestamp};
use lyceum_store::{DbError, Tx, kv::Namespace};

pub(crate) use message::BadMessage;
pub use message::{Message, Moment};

use crate::{
    oauth::request::AuthorizationRequest,
    seal::{Key, Purpose},
    signin::SignIn,
};

/// Lifetime of a nonce.
pub(crate) const NONCE_TTL: SignedDuration = SignedDuration::from_mins(5);

/// Maximum clock skew of an issue time in the future.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(60);

/// Used nonces; kept longer than any nonce is valid.
const USED_NONCES: Namespace = Namespace { name: "siwe-nonce", ttl_seconds: Some(15 * 60) };

/// Hex digits of a nonce: random part, expiry, HMAC.
const NONCE_PART_DIGITS: [usize; 3] = [32, 10, 32];

/// SIWE domain, URI and chains of this server.
#[derive(Debug, Clone)]
pub struct SiweDomain {
    /// Host of the page, with its port if any.
    pub domain: String,
    /// URI of the message.
    pub uri: String,
    /// Supported chains.
    pub chains: Vec<u64>,
}

/// Why a message is rejected. The error texts are shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RejectedMessage {
    /// It can't be parsed.
    #[error(transparent)]
    Unreadable(#[from] BadMessage),
    /// It is for another site.
    #[error("the message is for another site")]
    Site,
    /// It is for an unsupported chain.
    #[error("the message is for an unsupported chain")]
    Chain,
    /// It is signed by a contract wallet on another chain than that of the roles.
    #[error("contract wallets sign in on chain {0}; switch the wallet to that chain")]
    ContractElsewhere(u64),
    /// It is expired or not valid yet.
    #[error("the message is expired or not valid yet; sign in again")]
    Time,
    /// Its nonce is invalid or expired.
    #[error("the nonce is invalid or expired; sign in again")]
    Nonce,
    /// It differs from the message that the server generated.
    #[error("the message differs from the one this server issued")]
    Changed,
}

/// Generates a nonce.
pub(crate) fn nonce(key: &Key, now: Timestamp) -> Result<String, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let expires = now.saturating_add(NONCE_TTL).unwrap_or(now).as_second();
    Ok(with_tag(key, &format!("{}{expires:010x}", hex::encode(random))))
}

/// Generates the message for an account.
pub(crate) fn write(
    domain: &SiweDomain,
    request: &AuthorizationRequest,
    id: &str,
    address: Address,
    chain_id: u64,
    nonce: &str,
    at: Timestamp,
) -> Message {
    Message {
        scheme: None,
        domain: domain.domain.clone(),
        address,
        statement: Some(statement(request)),
        uri: domain.uri.clone(),
        chain_id,
        nonce: nonce.to_owned(),
        issued_at: Moment::new(at),
        expiration_time: Some(Moment::new(at.saturating_add(NONCE_TTL).unwrap_or(at))),
        not_before: None,
        request_id: Some(id.to_owned()),
        resources: None,
    }
}

/// Parses a signed message and checks everything but the signature.
pub(crate) fn check(
    key: &Key,
    domain: &SiweDomain,
    sign_in: &SignIn,
    text: &str,
    now: Timestamp,
) -> Result<Message, RejectedMessage> {
    let message = Message::parse(text)?;
    if message.domain != domain.domain || message.uri != domain.uri || message.scheme.is_some() {
        return Err(RejectedMessage::Site);
    }
    if !domain.chains.contains(&message.chain_id) {
        return Err(RejectedMessage::Chain);
    }
    let issued = message.issued_at.at();
    let is_expired = message.expiration_time.as_ref().is_some_and(|time| time.at() <= now);
    let is_early = message.not_before.as_ref().is_some_and(|time| time.at() > now);
    if issued.duration_since(now) > MAX_CLOCK_SKEW || is_expired || is_early {
        return Err(RejectedMessage::Time);
    }
    if !is_valid_nonce(key, &message.nonce, now) {
        return Err(RejectedMessage::Nonce);
    }
    let (address, chain) = (message.address, message.chain_id);
    let expected = write(domain, &sign_in.request, &sign_in.id, address, chain, &message.nonce, issued);
    if expected == message { Ok(message) } else { Err(RejectedMessage::Changed) }
}

/// Marks a nonce or sign-in id as used; returns whether this was the first use.
pub(crate) fn mark_used(tx: &Tx<'_>, nonce: &str, now: Timestamp) -> Result<bool, DbError> {
    USED_NONCES.put_new(tx, nonce, b"", now)
}

/// Whether a nonce was already used.
pub(crate) fn is_used(tx: &Tx<'_>, nonce: &str, now: Timestamp) -> Result<bool, DbError> {
    Ok(USED_NONCES.get(tx, nonce, now)?.is_some())
}

/// The statement that the user signs, in characters that EIP-4361 allows. The client name is reduced to letters,
/// digits, spaces, `-`, `_` and `.`, so that it can't pass for another part of the sentence.
fn statement(request: &AuthorizationRequest) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || " -_.".contains(*letter);
    let name: String = request.client_name.as_deref().unwrap_or_default().chars().filter(is_plain).collect();
    let name = if name.trim().is_empty() { "a program" } else { name.trim() };
    let host = message::printable_statement(request.shown_host());
    format!("Allow {name} ({host}) to act for me with: {}", request.scopes)
}

/// Whether a nonce was issued by this server and has not expired.
fn is_valid_nonce(key: &Key, nonce: &str, now: Timestamp) -> bool {
    let [random, expiry, _] = NONCE_PART_DIGITS;
    let Some(body) = nonce.get(..random + expiry) else { return false };
    let expires = body.get(random..).and_then(|digits| i64::from_str_radix(digits, 16).ok());
    expires.is_some_and(|expires| now.as_second() <= expires) && with_tag(key, body) == nonce
}

fn with_tag(key: &Key, body: &str) -> String {
    let [_, _, digits] = NONCE_PART_DIGITS;
    let mut tag = hex::encode(key.tag(Purpose::Nonce, body.as_bytes()));
    tag.truncate(digits);
    [body, &tag].concat()
}
