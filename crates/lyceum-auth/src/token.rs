//! Tokens that we issue: a prefix for the kind and 256 random bits; stored as SHA-256 only.
//!
//! The last eight digits are a checksum, so that secret scanners can recognize our tokens and a typo needs no
//! database lookup.

use std::fmt;

use alloy_primitives::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Random bytes of a token.
const RANDOM_BYTES: usize = 32;

/// Hex digits of the checksum.
const CHECKSUM_DIGITS: usize = 8;

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Access token.
    Access,
    /// Refresh token.
    Refresh,
    /// Authorization code.
    Code,
    /// API key of the configuration; valid until removed there.
    Key,
}

/// A token. `Debug` redacts it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    kind: Kind,
    text: String,
}

/// SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl Kind {
    const ALL: [Self; 4] = [Self::Access, Self::Refresh, Self::Code, Self::Key];

    /// Whether a text starts with the prefix of this kind.
    pub(crate) fn is_prefix_of(self, text: &str) -> bool {
        text.starts_with(self.prefix())
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Access => "lyc_at_",
            Self::Refresh => "lyc_rt_",
            Self::Code => "lyc_ac_",
            Self::Key => "lyc_key_",
        }
    }
}

impl TokenHash {
    /// Hashes a text, whether or not it is a valid token.
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl Token {
    /// Generates a random token.
    pub fn random(kind: Kind) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self::of_bytes(kind, &bytes))
    }

    /// Derives a token from another: deterministic, and unpredictable without the key.
    pub(crate) fn derive(kind: Kind, previous: &Token, key: &[u8; 32]) -> Self {
        let mut mac = hmac(key);
        mac.update(kind.prefix().as_bytes());
        mac.update(previous.text.as_bytes());
        Self::of_bytes(kind, &mac.finalize().into_bytes())
    }

    /// Parses a token; `None` if we can't have issued it.
    pub fn parse(text: &str) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
        let digits = text.strip_prefix(kind.prefix())?;
        let (body, check) = digits.split_at_checked(RANDOM_BYTES * 2)?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (digits.bytes().all(is_hex) && check == checksum(kind, body))
            .then(|| Self { kind, text: text.to_owned() })
    }

    /// Kind of the token.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Exposes the token, for the one response that contains it.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Hash of the token.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.text)
    }

    fn of_bytes(kind: Kind, bytes: &[u8]) -> Self {
        let body = hex::encode(bytes);
        let check = checksum(kind, &body);
        Self { kind, text: [kind.prefix(), &body, &check].concat() }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…", self.kind.prefix())
    }
}

/// HMAC-SHA-256 with a key.
#[expect(clippy::expect_used, reason = "HMAC accepts keys of any length")]
pub(crate) fn hmac(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length")
}

fn checksum(kind: Kind, body: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(kind.prefix().as_bytes());
    digest.update(body.as_bytes());
    let mut text = hex::encode(digest.finalize());
    text.truncate(CHECKSUM_DIGITS);
    text
}
