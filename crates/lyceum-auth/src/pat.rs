//! Personal access tokens of GitHub as proof of who somebody is, for servers that are set up so.
//!
//! Such a token is asked about once, at GitHub, and is neither kept nor written down: what is remembered for a while is
//! the hash of it and whose it is.

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use jiff::{SignedDuration, Timestamp};
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::{
    auth::NotAdmitted,
    github::{GitHub, Owner},
};

/// How the tokens begin that a person made, and those that an application was given by them. Those of installations
/// (`ghs_`) are nobody's.
const PERSONAL: [&str; 2] = ["ghp_", "github_pat_"];
const GIVEN: &str = "gho_";

/// The longest token.
const LONGEST: usize = 255;

/// How many tokens are remembered, and how many are asked about at the same time.
const REMEMBERED: usize = 10_000;
const AT_ONCE: usize = 16;

/// How it is sent: RFC 4648 section 5, with `=` at the end or without.
const ENCODING: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Who the tokens of GitHub belong to.
#[derive(Debug)]
pub(crate) struct Pats {
    github: GitHub,
    good_for: SignedDuration,
    known: Cache<[u8; 32], (u64, Timestamp)>,
    places: Semaphore,
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
    pub(crate) fn new(github: GitHub, good_for: SignedDuration) -> Self {
        Self { github, good_for, known: Cache::new(REMEMBERED), places: Semaphore::new(AT_ONCE) }
    }

    /// Whose that is.
    pub(crate) async fn owner(&self, sent: &str, now: Timestamp) -> Result<PatOwner, NotAdmitted> {
        let token = decoded(sent).ok_or(NotAdmitted::BadToken)?;
        let is_personal = !token.starts_with(GIVEN);
        self.id_of(&token, now).await.map(|id| PatOwner { id, is_personal })
    }

    async fn id_of(&self, token: &str, now: Timestamp) -> Result<u64, NotAdmitted> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        match self.known.get(&hash) {
            Some((id, asked)) if now.duration_since(asked) < self.good_for => return Ok(id),
            Some(_) => {
                self.known.remove(&hash);
            }
            None => {}
        }
        // Anybody can send what looks like a token; so only so many are asked about at once, and none waits in line.
        let _place = self.places.try_acquire().map_err(|_| NotAdmitted::Unavailable)?;
        match self.github.owner(token).await {
            Ok(Owner::Person(id)) => {
                self.known.insert(hash, (id, now));
                Ok(id)
            }
            Ok(Owner::Nobody) => Err(NotAdmitted::BadToken),
            Err(error) => {
                tracing::warn!(error.cause = %error, "a token of GitHub can't be checked");
                Err(NotAdmitted::Unavailable)
            }
        }
    }
}

/// The token, if it can be one.
fn decoded(sent: &str) -> Option<String> {
    let token = String::from_utf8(ENCODING.decode(sent).ok()?).ok()?;
    let is_word = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut prefixes = PERSONAL.iter().chain([&GIVEN]);
    let has_prefix = prefixes.any(|prefix| token.len() > prefix.len() && token.starts_with(prefix));
    (is_word && has_prefix && token.len() <= LONGEST).then_some(token)
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
