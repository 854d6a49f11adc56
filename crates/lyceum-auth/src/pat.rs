//! Personal access tokens of GitHub as proof of who somebody is, for servers that are set up so.
//!
//! Such a token is asked about once, at GitHub, and is neither kept nor written down: what is remembered for a while is
//! a keyed hash of it and whose it is, or that it is nobody's. Anybody can make tokens up, so one address has few turns at
//! asking, and some turns are kept for tokens that were good before.

use std::net::IpAddr;

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use jiff::{SignedDuration, Timestamp};
use quick_cache::sync::Cache;

use crate::{
    auth::AdmissionError,
    concurrency::{ConcurrencyLimits, LimitKey},
    github::{GitHub, Owner},
    seal::{Key, Purpose},
};

/// How the tokens begin that a person made, and those that an application was given by them. Those of installations
/// (`ghs_`) are nobody's.
const PERSONAL_PREFIXES: [&str; 2] = ["ghp_", "github_pat_"];
const OAUTH_PREFIX: &str = "gho_";

/// The longest token.
const MAX_TOKEN_BYTES: usize = 255;

/// How many tokens are remembered: those that are good, and those that are nobody's.
const CACHE_CAPACITY: usize = 10_000;

/// How long it is remembered that a token is nobody's.
const INVALID_TTL: SignedDuration = SignedDuration::from_secs(60);

/// How many tokens are asked about at the same time: of all, of those that were never good, and of those from one address.
const MAX_LOOKUPS: usize = 16;
const MAX_NEW_LOOKUPS: usize = 12;
const MAX_LOOKUPS_PER_ADDRESS: usize = 4;

/// How it is sent: RFC 4648 section 5, with `=` at the end or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Who the tokens of GitHub belong to.
#[derive(Debug)]
pub(crate) struct Pats {
    github: GitHub,
    good_for: SignedDuration,
    key: Key,
    known: Cache<[u8; 32], (u64, Timestamp)>,
    bad: Cache<[u8; 32], Timestamp>,
    turns: ConcurrencyLimits,
}

/// What is remembered of a token.
enum CachedOwner {
    /// Whose it is.
    Good(u64),
    /// That it was somebody's; it must be asked about again.
    Stale,
    /// That it is nobody's.
    Bad,
    /// Nothing.
    Nothing,
}

/// Whose a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatOwner {
    /// The number of the person at GitHub.
    pub(crate) id: u64,
    /// Whether the person made it themselves.
    pub(crate) is_personal: bool,
}

impl Pats {
    pub(crate) fn new(github: GitHub, good_for: SignedDuration, key: Key) -> Self {
        let (known, bad) = (Cache::new(CACHE_CAPACITY), Cache::new(CACHE_CAPACITY));
        Self { github, good_for, key, known, bad, turns: ConcurrencyLimits::default() }
    }

    /// Whose that is, for a request from an address.
    pub(crate) async fn owner(
        &self,
        sent: &str,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<PatOwner, AdmissionError> {
        let token = decoded(sent).ok_or(AdmissionError::BadToken)?;
        let is_personal = !token.starts_with(OAUTH_PREFIX);
        self.id_of(&token, from, now).await.map(|id| PatOwner { id, is_personal })
    }

    /// Whether GitHub would be asked about it for the first time: what anybody can cause.
    pub(crate) fn is_new(&self, sent: &str, now: Timestamp) -> bool {
        let hash = decoded(sent).map(|token| self.hash(&token));
        hash.is_some_and(|hash| matches!(self.remembered(&hash, now), CachedOwner::Nothing))
    }

    async fn id_of(&self, token: &str, from: Option<IpAddr>, now: Timestamp) -> Result<u64, AdmissionError> {
        let hash = self.hash(token);
        let (most, share) = match self.remembered(&hash, now) {
            CachedOwner::Good(id) => return Ok(id),
            CachedOwner::Bad => return Err(AdmissionError::BadToken),
            CachedOwner::Stale => (MAX_LOOKUPS, None),
            CachedOwner::Nothing => {
                (MAX_NEW_LOOKUPS, from.map(|from| (LimitKey::Address(from), MAX_LOOKUPS_PER_ADDRESS)))
            }
        };
        let _turn = self.turns.take(most, share).ok_or(AdmissionError::Unavailable)?;
        match self.github.owner(token).await {
            Ok(Owner::Person(id)) => {
                self.known.insert(hash, (id, now));
                Ok(id)
            }
            Ok(Owner::Nobody) => {
                self.known.remove(&hash);
                self.bad.insert(hash, now);
                Err(AdmissionError::BadToken)
            }
            Err(error) => {
                tracing::warn!(error.cause = %error, "could not check a GitHub token");
                Err(AdmissionError::Unavailable)
            }
        }
    }

    fn remembered(&self, hash: &[u8; 32], now: Timestamp) -> CachedOwner {
        match (self.known.get(hash), self.bad.get(hash)) {
            (Some((id, checked_at)), _) if now.duration_since(checked_at) < self.good_for => {
                CachedOwner::Good(id)
            }
            (Some(_), _) => CachedOwner::Stale,
            (None, Some(checked_at)) if now.duration_since(checked_at) < INVALID_TTL => CachedOwner::Bad,
            (None, _) => CachedOwner::Nothing,
        }
    }

    fn hash(&self, token: &str) -> [u8; 32] {
        self.key.code(Purpose::Pat, token.as_bytes())
    }
}

/// The token, if it can be one.
fn decoded(sent: &str) -> Option<String> {
    let token = String::from_utf8(BASE64.decode(sent).ok()?).ok()?;
    let is_word = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut prefixes = PERSONAL_PREFIXES.iter().chain([&OAUTH_PREFIX]);
    let has_prefix = prefixes.any(|prefix| token.len() > prefix.len() && token.starts_with(prefix));
    (is_word && has_prefix && token.len() <= MAX_TOKEN_BYTES).then_some(token)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE as PADDED, URL_SAFE_NO_PAD};

    use super::*;

    #[test]
    fn a_token_is_read_with_padding_and_without() {
        for token in ["ghp_abc123", "github_pat_11AA_xyz", "gho_1", "ghp_abc1234"] {
            assert_eq!(decoded(&URL_SAFE_NO_PAD.encode(token)).as_deref(), Some(token));
            assert_eq!(decoded(&PADDED.encode(token)).as_deref(), Some(token));
        }
    }

    #[test]
    fn whatever_else_is_sent_is_no_token() {
        let long = format!("ghp_{}", "a".repeat(300));
        let texts =
            ["", "ghp_", "ghs_abc", "glpat-abc", "ghp_a\nb", "ghp_a b", " ghp_a", "GHP_abc", long.as_str()];
        for text in texts {
            assert_eq!(decoded(&URL_SAFE_NO_PAD.encode(text)), None, "{text:?}");
        }
        assert_eq!(decoded(&URL_SAFE_NO_PAD.encode([b'g', b'h', b'p', b'_', 0xff])), None);
    }

    #[test]
    fn the_alphabet_is_that_of_addresses() {
        // These bytes need both signs in which the alphabets differ; as a token they would be refused anyway.
        assert!(STANDARD.encode([0xfb, 0xff, 0xfe]).contains(['+', '/']));
        for sent in ["Z2hwX2Fi+w", "Z2hwX2Fi/w", "Z2hwX2FiY", "ghp_plain_text", "Z2hwX2FiYw===", "Z2hw X2Fi"]
        {
            assert_eq!(decoded(sent), None, "{sent}");
        }
    }
}
