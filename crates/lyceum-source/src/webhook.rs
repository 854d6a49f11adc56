//! Webhook deliveries: signature check and parsing of a push.
//!
//! A push is only a hint to sync; what changed is read from the repository itself.

mod excerpt;

pub use excerpt::Excerpt;
use hmac::{Hmac, KeyInit, Mac};
use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::Value;
use sha2::Sha256;

/// Streaming check of `X-Hub-Signature-256`: HMAC-SHA256 in hex after `sha256=`.
pub struct SignatureCheck {
    mac: Hmac<Sha256>,
    expected: [u8; 32],
}

impl SignatureCheck {
    /// Starts a check with the shared secret and the header; `None` if the header is malformed.
    pub fn new(secret: &Secret, signature: &str) -> Option<Self> {
        let digits = signature.trim().strip_prefix("sha256=").filter(|digits| digits.len() == 64)?;
        let expected = const_hex::decode_to_array(digits).ok()?;
        let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).ok()?;
        Some(Self { mac, expected })
    }

    /// Adds the next part of the body.
    pub fn update(&mut self, part: &[u8]) {
        self.mac.update(part);
    }

    /// Whether the signature is valid. Compares in constant time.
    pub fn is_signed(self) -> bool {
        self.mac.verify_slice(&self.expected).is_ok()
    }
}

/// The relevant fields of a push.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Push {
    /// The full ref name, such as `refs/heads/main`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The repository.
    pub repository: PushedRepository,
}

/// The repository of a push.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PushedRepository {
    /// Owner and name, such as `team/kb`.
    pub full_name: String,
    /// The https URL.
    pub clone_url: Option<String>,
    /// The ssh URL.
    pub ssh_url: Option<String>,
}

impl Push {
    /// Parses a push.
    pub fn parse(body: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(body).map_err(|_| "it is not JSON".to_owned())?;
        let is_text = |at: &str| value.pointer(at).is_some_and(Value::is_string);
        for (at, field) in [("/ref", "ref"), ("/repository/full_name", "repository.full_name")] {
            if !is_text(at) {
                return Err(format!("{field} must be a string"));
            }
        }
        Self::deserialize(value).map_err(|_| "repository.clone_url and ssh_url must be strings".to_owned())
    }

    /// The pushed branch; `None` if the ref is not a branch.
    pub fn branch(&self) -> Option<&str> {
        self.reference.strip_prefix("refs/heads/")
    }

    /// Whether it concerns the repository at a URL: the same URL, or one that ends with its owner and name.
    pub fn is_about(&self, url: &str) -> bool {
        let PushedRepository { full_name, clone_url, ssh_url } = &self.repository;
        let known = normalize(url);
        let same = [clone_url, ssh_url].into_iter().flatten().any(|expected| normalize(expected) == known);
        same || (!full_name.is_empty() && known.ends_with(&format!("/{}", full_name.to_ascii_lowercase())))
    }
}

/// Normalizes a URL for comparison: lower-case host and path, without scheme, user and `.git`.
fn normalize(url: &str) -> String {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest.to_owned(),
        None => url.replacen(':', "/", 1),
    };
    let rest = match rest.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest.to_owned(),
        _ => rest,
    };
    let rest = rest.trim_end_matches('/').to_ascii_lowercase();
    rest.strip_suffix(".git").unwrap_or(&rest).to_owned()
}

#[cfg(test)]
mod tests;
