//! GitHub personal access tokens as bearer tokens, for servers that enable them.
//!
//! A token is checked at GitHub and never stored: the cache has a keyed hash of it with its owner, or that it is
//! invalid. The caller carries it during the request, for services that read GitHub on their behalf. Anyone can make up
//! tokens, so concurrent lookups are limited per address, and some are reserved for tokens that were valid before.
//! Concurrent requests with one token make one lookup.

use std::{net::IpAddr, sync::Arc};

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use jiff::{SignedDuration, Timestamp};
use lyceum_model::Credential;
use lyceum_net::SingleFlight;
use quick_cache::sync::Cache;

use crate::{
    auth::AdmissionError,
    concurrency::{ConcurrencyLimits, LimitKey},
    github::{GitHub, Owner},
    seal::{Key, Purpose},
};

/// Prefixes of personal access tokens, and of tokens issued to an OAuth app. Installation tokens (`ghs_`) belong
/// to no user.
const PERSONAL_PREFIXES: [&str; 2] = ["ghp_", "github_pat_"];
const OAUTH_PREFIX: &str = "gho_";

/// Maximum length of a token.
const MAX_TOKEN_BYTES: usize = 255;

/// Capacity of each cache: valid and invalid tokens.
const CACHE_CAPACITY: usize = 10_000;

/// TTL of the negative cache.
const INVALID_TTL: SignedDuration = SignedDuration::from_secs(60);

/// Maximum concurrent lookups: in total, of new tokens, and of new tokens from one address.
const MAX_LOOKUPS: usize = 16;
const MAX_NEW_LOOKUPS: usize = 12;
const MAX_LOOKUPS_PER_ADDRESS: usize = 4;

/// Encoding on the wire: RFC 4648 section 5, padding optional.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Looks up owners of GitHub tokens.
#[derive(Debug)]
pub(crate) struct Pats {
    key: Key,
    lookups: Arc<Lookups>,
    flights: SingleFlight<[u8; 32], Result<u64, AdmissionError>>,
}

/// Lookups at GitHub, and their cached results.
#[derive(Debug)]
struct Lookups {
    github: GitHub,
    ttl: SignedDuration,
    valid: Cache<[u8; 32], (u64, Timestamp)>,
    invalid: Cache<[u8; 32], Timestamp>,
    limits: ConcurrencyLimits,
}

/// Cached state of a token.
enum CachedOwner {
    /// Valid, with the user id of its owner.
    Valid(u64),
    /// Valid before; must be checked again.
    Stale,
    /// Invalid.
    Invalid,
    /// Not cached.
    Unknown,
}

/// Owner of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatOwner {
    /// GitHub user id.
    pub(crate) id: u64,
    /// Whether it is a personal access token.
    pub(crate) is_personal: bool,
    /// The token itself, for requests on the owner's behalf.
    pub(crate) token: Credential,
}

impl Pats {
    pub(crate) fn new(github: GitHub, ttl: SignedDuration, key: Key) -> Self {
        let (valid, invalid) = (Cache::new(CACHE_CAPACITY), Cache::new(CACHE_CAPACITY));
        let lookups = Lookups { github, ttl, valid, invalid, limits: ConcurrencyLimits::default() };
        Self { key, lookups: Arc::new(lookups), flights: SingleFlight::default() }
    }

    /// Finds the owner of a token, for a request from an address.
    pub(crate) async fn owner(
        &self,
        sent: &str,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<PatOwner, AdmissionError> {
        let token = decode(sent).ok_or(AdmissionError::BadToken)?;
        let is_personal = !token.starts_with(OAUTH_PREFIX);
        let (hash, token) = (self.hash(&token), Credential::new(token));
        let id = match self.lookups.cached(&hash, now) {
            CachedOwner::Valid(id) => id,
            CachedOwner::Invalid => return Err(AdmissionError::BadToken),
            CachedOwner::Stale | CachedOwner::Unknown => {
                let (lookups, token) = (self.lookups.clone(), token.clone());
                let lookup = async move { lookups.id_of(hash, &token, from, now).await };
                self.flights.join(hash, lookup).await?
            }
        };
        Ok(PatOwner { id, is_personal, token })
    }

    /// Whether it would cause a lookup at GitHub, for the first time, which anyone can.
    pub(crate) fn is_new(&self, sent: &str, now: Timestamp) -> bool {
        let hash = decode(sent).map(|token| self.hash(&token));
        hash.is_some_and(|hash| {
            matches!(self.lookups.cached(&hash, now), CachedOwner::Unknown) && !self.flights.is_running(&hash)
        })
    }

    fn hash(&self, token: &str) -> [u8; 32] {
        self.key.tag(Purpose::Pat, token.as_bytes())
    }
}

impl Lookups {
    async fn id_of(
        &self,
        hash: [u8; 32],
        token: &Credential,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<u64, AdmissionError> {
        // Another lookup may have ended since.
        let (max, key_limit) = match self.cached(&hash, now) {
            CachedOwner::Valid(id) => return Ok(id),
            CachedOwner::Invalid => return Err(AdmissionError::BadToken),
            CachedOwner::Stale => (MAX_LOOKUPS, None),
            CachedOwner::Unknown => {
                (MAX_NEW_LOOKUPS, from.map(|from| (LimitKey::Address(from), MAX_LOOKUPS_PER_ADDRESS)))
            }
        };
        let _permit = self.limits.try_acquire(max, key_limit).ok_or(AdmissionError::Unavailable)?;
        match self.github.owner(token.reveal()).await {
            Ok(Owner::User(id)) => {
                self.valid.insert(hash, (id, now));
                Ok(id)
            }
            Ok(Owner::Invalid) => {
                self.valid.remove(&hash);
                self.invalid.insert(hash, now);
                Err(AdmissionError::BadToken)
            }
            Err(error) => {
                tracing::warn!(error.cause = %error, "could not check a GitHub token");
                Err(AdmissionError::Unavailable)
            }
        }
    }

    fn cached(&self, hash: &[u8; 32], now: Timestamp) -> CachedOwner {
        match (self.valid.get(hash), self.invalid.get(hash)) {
            (Some((id, checked_at)), _) if now.duration_since(checked_at) < self.ttl => {
                CachedOwner::Valid(id)
            }
            (Some(_), _) => CachedOwner::Stale,
            (None, Some(checked_at)) if now.duration_since(checked_at) < INVALID_TTL => CachedOwner::Invalid,
            (None, _) => CachedOwner::Unknown,
        }
    }
}

/// Decodes a token and checks its format.
fn decode(sent: &str) -> Option<String> {
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
            assert_eq!(decode(&URL_SAFE_NO_PAD.encode(token)).as_deref(), Some(token));
            assert_eq!(decode(&PADDED.encode(token)).as_deref(), Some(token));
        }
    }

    #[test]
    fn whatever_else_is_sent_is_no_token() {
        let long = format!("ghp_{}", "a".repeat(300));
        let texts =
            ["", "ghp_", "ghs_abc", "glpat-abc", "ghp_a\nb", "ghp_a b", " ghp_a", "GHP_abc", long.as_str()];
        for text in texts {
            assert_eq!(decode(&URL_SAFE_NO_PAD.encode(text)), None, "{text:?}");
        }
        assert_eq!(decode(&URL_SAFE_NO_PAD.encode([b'g', b'h', b'p', b'_', 0xff])), None);
    }

    #[test]
    fn the_alphabet_is_that_of_addresses() {
        // These bytes need both characters in which the alphabets differ; as a token they would be rejected
        // anyway.
        assert!(STANDARD.encode([0xfb, 0xff, 0xfe]).contains(['+', '/']));
        for sent in ["Z2hwX2Fi+w", "Z2hwX2Fi/w", "Z2hwX2FiY", "ghp_plain_text", "Z2hwX2FiYw===", "Z2hw X2Fi"]
        {
            assert_eq!(decode(sent), None, "{sent}");
        }
    }
}
