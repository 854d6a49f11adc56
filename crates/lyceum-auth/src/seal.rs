//! What we hand to a browser or a client and want back unchanged: its JSON beside a code that only we can make.
//!
//! So a sign-in that nobody finishes, and a client that registers and never comes back, leave nothing behind. What is
//! sealed can be read by whoever holds it; nothing secret goes in.

use alloy_primitives::hex;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::Sha256;

use crate::token::mac;

/// What something is sealed for; one can't be used in place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A sign-in under way.
    SignIn,
    /// A registered client.
    Client,
    /// The secret of a registered client.
    ClientSecret,
    /// A nonce.
    Nonce,
    /// The session of an older client.
    Session,
    /// A token of GitHub, as it is remembered.
    Pat,
}

/// The key of this deployment, for all that it seals and derives. Shows nothing of itself.
#[derive(Clone)]
pub struct Key(pub(crate) [u8; 32]);

#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    /// When it was sealed, in seconds.
    at: i64,
    is: T,
}

/// Why a text is not what was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SealError {
    /// It is not one of ours, or it was changed.
    Forged,
    /// Its time is over.
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
        }
    }
}

impl Key {
    /// The key of 64 hexadecimal digits, as `COOKIE_ENCRYPTION_KEY` holds it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // A decoder also takes `0x` before the digits.
        let digits = Some(text).filter(|text| text.len() == 64)?;
        hex::decode_to_array(digits).ok().map(Self)
    }

    /// The key as hexadecimal digits, for the file that keeps it.
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// A new one, from the system's randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Seals a value.
    pub(crate) fn seal<T: Serialize>(&self, purpose: Purpose, is: T, now: Timestamp) -> String {
        let bytes = serde_json::to_vec(&Envelope { at: now.as_second(), is }).unwrap_or_default();
        let code = self.code(purpose, &bytes);
        [URL_SAFE_NO_PAD.encode(bytes), URL_SAFE_NO_PAD.encode(code)].join(".")
    }

    /// Opens what was sealed for that purpose at most so many seconds ago.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        purpose: Purpose,
        sealed: &str,
        seconds: Option<i64>,
        now: Timestamp,
    ) -> Result<T, SealError> {
        let (bytes, code) = sealed.split_once('.').ok_or(SealError::Forged)?;
        let bytes = URL_SAFE_NO_PAD.decode(bytes).map_err(|_| SealError::Forged)?;
        let code = URL_SAFE_NO_PAD.decode(code).map_err(|_| SealError::Forged)?;
        self.mac_of(purpose, &bytes).verify_slice(&code).map_err(|_| SealError::Forged)?;
        let envelope: Envelope<T> = serde_json::from_slice(&bytes).map_err(|_| SealError::Forged)?;
        let is_over = seconds.is_some_and(|seconds| now.as_second() > envelope.at.saturating_add(seconds));
        if is_over { Err(SealError::TooOld) } else { Ok(envelope.is) }
    }

    /// The code over bytes, for a purpose.
    pub(crate) fn code(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 32] {
        self.mac_of(purpose, bytes).finalize().into_bytes().into()
    }

    /// Whether that is the code over those bytes.
    pub(crate) fn is_code(&self, purpose: Purpose, bytes: &[u8], code: &[u8]) -> bool {
        self.mac_of(purpose, bytes).verify_slice(code).is_ok()
    }

    fn mac_of(&self, purpose: Purpose, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = mac(&self.0);
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
