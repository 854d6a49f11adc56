//! Secrets that we give out: 256 random bits behind a prefix that says what they are, kept as their SHA-256 only.
//!
//! The last eight digits are a check, so that a scanner can tell one of ours from noise, and a typing error costs no
//! look at the database.

use std::fmt;

use alloy_primitives::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// How many bytes of a token are random.
const RANDOM_BYTES: usize = 32;

/// How many digits of a token are its check.
const CHECKSUM_DIGITS: usize = 8;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sent with each request.
    Access,
    /// Exchanged for a new pair.
    Refresh,
    /// Exchanged for the first pair.
    Code,
    /// Given out by the operator; good until it is taken out of the configuration.
    Key,
}

/// A secret of ours. Shows nothing of itself in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    kind: Kind,
    text: String,
}

/// What is kept of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl Kind {
    const ALL: [Self; 4] = [Self::Access, Self::Refresh, Self::Code, Self::Key];

    /// Whether a text begins as such tokens do.
    pub(crate) fn begins(self, text: &str) -> bool {
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
    /// The hash of a text, whether or not it is a token of ours.
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl Token {
    /// A new one, from the system's randomness.
    pub fn random(kind: Kind) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self::of_bytes(kind, &bytes))
    }

    /// The one that follows from another: the same each time, and not to be guessed without the key.
    pub(crate) fn after(kind: Kind, previous: &Token, key: &[u8; 32]) -> Self {
        let mut mac = mac(key);
        mac.update(kind.prefix().as_bytes());
        mac.update(previous.text.as_bytes());
        Self::of_bytes(kind, &mac.finalize().into_bytes())
    }

    /// Reads what a client sent; nothing where we can't have given it out.
    pub fn parse(text: &str) -> Option<Self> {
        let kind = Kind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
        let digits = text.strip_prefix(kind.prefix())?;
        let (body, check) = digits.split_at_checked(RANDOM_BYTES * 2)?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (digits.bytes().all(is_hex) && check == check_of(kind, body))
            .then(|| Self { kind, text: text.to_owned() })
    }

    /// What it is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The token itself, for the one answer that carries it.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What is kept of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.text)
    }

    fn of_bytes(kind: Kind, bytes: &[u8]) -> Self {
        let body = hex::encode(bytes);
        let check = check_of(kind, &body);
        Self { kind, text: [kind.prefix(), &body, &check].concat() }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…", self.kind.prefix())
    }
}

/// A code over bytes that only holders of the key can make.
#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
pub(crate) fn mac(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).expect("a key of any length")
}

fn check_of(kind: Kind, body: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(kind.prefix().as_bytes());
    digest.update(body.as_bytes());
    let mut text = hex::encode(digest.finalize());
    text.truncate(CHECKSUM_DIGITS);
    text
}
