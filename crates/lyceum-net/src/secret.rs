//! Secrets given to us: tokens, passwords, API keys, webhook signing keys.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// Maximum length of a secret: tokens of identity providers can have several thousand bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Maximum length of a secret sent in a header.
const MAX_HEADER_BYTES: usize = 4096;

/// Number of leading characters that other servers show when they abbreviate a secret.
const ABBREVIATION_PREFIX_CHARS: usize = 4;

/// A secret. It has no `Display`, `Debug` redacts it, and its memory is zeroized on drop.
#[derive(Clone)]
pub struct Secret(SecretString);

/// Why a text is not accepted as a secret. Never contains the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    /// It is empty, too long, or contains control characters.
    #[error("a token must be one line without control characters; check that you copied all of it")]
    NotOneLine,
    /// It can't be sent in a header.
    #[error("a key must be visible ASCII characters without spaces; check that you copied all of it")]
    NotOneWord,
}

impl Secret {
    /// Parses a secret from a variable or a file: one line, trimmed.
    pub fn new(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_BYTES || text.contains(char::is_control) {
            return Err(InvalidSecret::NotOneLine);
        }
        Ok(Self(text.into()))
    }

    /// Parses a secret to be sent in a header: visible ASCII characters without spaces, trimmed.
    pub fn for_header(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        if is_word(text) { Ok(Self(text.into())) } else { Err(InvalidSecret::NotOneWord) }
    }

    /// Parses a secret that is never sent, such as a signing key: anything but blank.
    pub fn for_signature(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.into()))
    }

    /// Exposes the secret.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the value of an `Authorization` header, marked as sensitive.
    pub fn bearer(&self) -> Result<HeaderValue, InvalidSecret> {
        let word = Some(self.reveal()).filter(|text| is_word(text)).ok_or(InvalidSecret::NotOneWord)?;
        let value = HeaderValue::from_str(&format!("Bearer {word}"));
        let mut value = value.map_err(|_| InvalidSecret::NotOneWord)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Redacts this secret in a text from another server, in full or abbreviated.
    pub fn redact(&self, text: &str) -> String {
        // JSON may escape a slash with a backslash.
        let text = text.replace("\\/", "/").replace(self.reveal(), "…");
        let start: String = self.reveal().chars().take(ABBREVIATION_PREFIX_CHARS).collect();
        let is_part = |word: &str| word.contains(&start) && (word.contains('*') || word.contains(".."));
        let clean = text.split(' ').map(|word| if is_part(word) { "…" } else { word });
        clean.collect::<Vec<_>>().join(" ")
    }
}

fn is_word(text: &str) -> bool {
    (1..=MAX_HEADER_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// For comparing configurations; not constant-time. Never compare input from callers with it: use hashes or
/// signatures.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.reveal() == other.reveal()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests;
