//! Sign-in with an Ethereum account: nonces, the message that is signed, and what must be true of it.
//!
//! The server writes the message and knows how to write it again, so it need not remember it: what comes back must be
//! the same byte for byte. A nonce carries its own proof and its own end; that it was used is what is remembered.

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

/// How long a nonce is good.
pub(crate) const NONCE_TTL: SignedDuration = SignedDuration::from_mins(5);

/// How far the clock of whoever wrote a message may be ahead of ours.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(60);

/// Nonces that were used; longer than any of them is good.
const USED_NONCES: Namespace = Namespace { name: "siwe-nonce", seconds: Some(15 * 60) };

/// How many hexadecimal digits of a nonce are random, its end, and its proof.
const NONCE_PART_DIGITS: [usize; 3] = [32, 10, 32];

/// Where a sign-in happens, and who may.
#[derive(Debug, Clone)]
pub struct SiweDomain {
    /// The host of the page, with its port where there is one.
    pub domain: String,
    /// The address that the sign-in is for.
    pub uri: String,
    /// The chains that accounts may be on.
    pub chains: Vec<u64>,
}

/// Why a message is not one that counts. The texts are for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RejectedMessage {
    /// It can't be read.
    #[error(transparent)]
    Unreadable(#[from] BadMessage),
    /// It is for another site.
    #[error("the message is for another site")]
    Site,
    /// It is for a chain that is not used here.
    #[error("the message is for an unsupported chain")]
    Chain,
    /// It is signed by a contract of another chain than that of the roles.
    #[error("contract wallets sign in on chain {0}; switch the wallet to that chain")]
    ContractElsewhere(u64),
    /// It does not count now.
    #[error("the message is expired or not valid yet; sign in again")]
    Time,
    /// Its nonce is not one of ours, or too old.
    #[error("the nonce is invalid or expired; sign in again")]
    Nonce,
    /// It is not the message that the server wrote.
    #[error("the message differs from the one this server issued")]
    Changed,
}

/// A new nonce.
pub(crate) fn nonce(key: &Key, now: Timestamp) -> Result<String, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let end = now.saturating_add(NONCE_TTL).unwrap_or(now).as_second();
    Ok(signed(key, &format!("{}{end:010x}", hex::encode(random))))
}

/// The message for a person who signs in.
pub(crate) fn write(
    place: &SiweDomain,
    request: &AuthorizationRequest,
    id: &str,
    address: Address,
    chain_id: u64,
    nonce: &str,
    at: Timestamp,
) -> Message {
    Message {
        scheme: None,
        domain: place.domain.clone(),
        address,
        statement: Some(statement(request)),
        uri: place.uri.clone(),
        chain_id,
        nonce: nonce.to_owned(),
        issued_at: Moment::new(at),
        expiration_time: Some(Moment::new(at.saturating_add(NONCE_TTL).unwrap_or(at))),
        not_before: None,
        request_id: Some(id.to_owned()),
        resources: None,
    }
}

/// Reads a message that came back, and checks all but the signature.
pub(crate) fn check(
    key: &Key,
    place: &SiweDomain,
    sign_in: &SignIn,
    text: &str,
    now: Timestamp,
) -> Result<Message, RejectedMessage> {
    let message = Message::parse(text)?;
    if message.domain != place.domain || message.uri != place.uri || message.scheme.is_some() {
        return Err(RejectedMessage::Site);
    }
    if !place.chains.contains(&message.chain_id) {
        return Err(RejectedMessage::Chain);
    }
    let issued = message.issued_at.at();
    let is_over = message.expiration_time.as_ref().is_some_and(|end| end.at() <= now);
    let is_early = message.not_before.as_ref().is_some_and(|begin| begin.at() > now);
    if issued.duration_since(now) > MAX_CLOCK_SKEW || is_over || is_early {
        return Err(RejectedMessage::Time);
    }
    if !is_ours(key, &message.nonce, now) {
        return Err(RejectedMessage::Nonce);
    }
    let (address, chain) = (message.address, message.chain_id);
    let ours = write(place, &sign_in.request, &sign_in.id, address, chain, &message.nonce, issued);
    if ours == message { Ok(message) } else { Err(RejectedMessage::Changed) }
}

/// Uses a nonce up, and says whether this was the first time.
pub(crate) fn use_up(tx: &Tx<'_>, nonce: &str, now: Timestamp) -> Result<bool, DbError> {
    USED_NONCES.put_new(tx, nonce, b"", now)
}

/// Whether a nonce was used before.
pub(crate) fn is_used(tx: &Tx<'_>, nonce: &str, now: Timestamp) -> Result<bool, DbError> {
    Ok(USED_NONCES.get(tx, nonce, now)?.is_some())
}

/// What the person agrees to, in the letters that EIP-4361 allows. Of a name that a program chose itself only what can't
/// pass for another part of the sentence: letters, digits, spaces, `-`, `_` and `.`.
fn statement(request: &AuthorizationRequest) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || " -_.".contains(*letter);
    let name: String = request.client_name.as_deref().unwrap_or_default().chars().filter(is_plain).collect();
    let name = if name.trim().is_empty() { "a program" } else { name.trim() };
    let host = message::printable_statement(request.shown_host());
    format!("Allow {name} ({host}) to act for me with: {}", request.scopes)
}

/// Whether a nonce is one that we gave out, and still good.
fn is_ours(key: &Key, nonce: &str, now: Timestamp) -> bool {
    let [random, end, _] = NONCE_PART_DIGITS;
    let Some(body) = nonce.get(..random + end) else { return false };
    let end = body.get(random..).and_then(|end| i64::from_str_radix(end, 16).ok());
    end.is_some_and(|end| now.as_second() <= end) && signed(key, body) == nonce
}

fn signed(key: &Key, body: &str) -> String {
    let [_, _, proof] = NONCE_PART_DIGITS;
    let mut code = hex::encode(key.code(Purpose::Nonce, body.as_bytes()));
    code.truncate(proof);
    [body, &code].concat()
}
