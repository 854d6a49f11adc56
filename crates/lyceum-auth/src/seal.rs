//! Stateless values that a browser or client carries: JSON with an HMAC.
//!
//! So unfinished sign-ins and registered clients need no storage. The values are authenticated, not encrypted: put
//! no secrets in.

use alloy_primitives::hex;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::Sha256;

use crate::token::hmac;

/// Purpose of a value; a value of one purpose is invalid for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A sign-in in progress.
    SignIn,
    /// A registered client.
    Client,
    /// The secret of a registered client.
    ClientSecret,
    /// A nonce.
    Nonce,
    /// The session id of an older client.
    Session,
    /// A cached GitHub token.
    Pat,
    /// A key for something else.
    Derived,
}

/// Secret key of this deployment, for HMACs and derived secrets. `Debug` redacts it.
#[derive(Clone)]
pub struct Key(pub(crate) [u8; 32]);

#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    /// Time of creation, in seconds.
    at: i64,
    is: T,
}

/// Why a sealed value is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SealError {
    /// Not created with this key and purpose, or modified.
    Forged,
    /// Expired.
    TooOld,
}

impl Purpose {
    fn name(self) -> &'static [u8] {
        match self {
            Self::SignIn => b"sign-in",
            Self::Client => b"client",
            Self::ClientSecret => b"client-secret",
            Self::Nonce => b"nonce",
            Self::Session => b"session",
            Self::Pat => b"pat",
            Self::Derived => b"derived",
        }
    }
}

impl Key {
    /// Parses 64 hex digits, the format of `COOKIE_ENCRYPTION_KEY`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // The decoder would also accept a `0x` prefix.
        let digits = Some(text).filter(|text| text.len() == 64)?;
        hex::decode_to_array(digits).ok().map(Self)
    }

    /// The key as hex digits, to be stored in a file.
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// Generates a random key.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A key for something else, the same on every node with this key.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        self.tag(Purpose::Derived, purpose.as_bytes())
    }

    /// Tells keys apart, without revealing them.
    pub fn fingerprint(&self) -> String {
        hex::encode(self.derive("fingerprint"))
    }

    /// Serializes a value and appends its HMAC.
    pub(crate) fn seal<T: Serialize>(&self, purpose: Purpose, is: T, now: Timestamp) -> String {
        let bytes = serde_json::to_vec(&Envelope { at: now.as_second(), is }).unwrap_or_default();
        let tag = self.tag(purpose, &bytes);
        [URL_SAFE_NO_PAD.encode(bytes), URL_SAFE_NO_PAD.encode(tag)].join(".")
    }

    /// Verifies and deserializes a value sealed for `purpose` at most `ttl_seconds` ago.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        purpose: Purpose,
        sealed: &str,
        ttl_seconds: Option<i64>,
        now: Timestamp,
    ) -> Result<T, SealError> {
        let (bytes, tag) = sealed.split_once('.').ok_or(SealError::Forged)?;
        let bytes = URL_SAFE_NO_PAD.decode(bytes).map_err(|_| SealError::Forged)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| SealError::Forged)?;
        self.mac_of(purpose, &bytes).verify_slice(&tag).map_err(|_| SealError::Forged)?;
        let envelope: Envelope<T> = serde_json::from_slice(&bytes).map_err(|_| SealError::Forged)?;
        let is_expired = ttl_seconds.is_some_and(|ttl| now.as_second() > envelope.at.saturating_add(ttl));
        if is_expired { Err(SealError::TooOld) } else { Ok(envelope.is) }
    }

    /// HMAC of bytes for a purpose.
    pub(crate) fn tag(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 32] {
        self.mac_of(purpose, bytes).finalize().into_bytes().into()
    }

    /// Verifies the HMAC of bytes, in constant time.
    pub(crate) fn verify_tag(&self, purpose: Purpose, bytes: &[u8], tag: &[u8]) -> bool {
        self.mac_of(purpose, bytes).verify_slice(tag).is_ok()
    }

    fn mac_of(&self, purpose: Purpose, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = hmac(&self.0);
        mac.update(purpose.name());
        mac.update(b"\0");
        mac.update(bytes);
        mac
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}
