//! A secret that somebody gave us: a token, a password, an API key, the key of a signature.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// The longest secret: tokens of identity providers reach some thousands of bytes.
const MAX_BYTES: usize = 16 * 1024;

/// The longest secret that goes into a header.
const MAX_HEADER_BYTES: usize = 4096;

/// How many characters of a secret others show when they abbreviate it.
const SHOWN_START: usize = 4;

/// A secret. It has no `Display`, `Debug` hides it, and its memory is wiped when it goes.
#[derive(Clone)]
pub struct Secret(SecretString);

/// Why a text is not taken as a secret. Does not repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    /// It is empty, too long, or has control characters.
    #[error("a token is one line without control characters; check that it was copied whole")]
    NotOneLine,
    /// It can't stand in a header.
    #[error("a key is one word of visible ASCII characters; check that it was copied whole")]
    NotOneWord,
}

impl Secret {
    /// Takes a secret as it stands in a variable or a file: one line. Spaces around it are no part of it.
    pub fn new(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_BYTES || text.contains(char::is_control) {
            return Err(InvalidSecret::NotOneLine);
        }
        Ok(Self(text.into()))
    }

    /// Takes a secret that is going to stand in a header: one word of visible ASCII characters.
    pub fn for_header(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        if is_word(text) { Ok(Self(text.into())) } else { Err(InvalidSecret::NotOneWord) }
    }

    /// Takes a secret that is never sent, such as the key of a signature: anything but nothing.
    pub fn for_signature(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.into()))
    }

    /// The secret itself, for where it must be handed over.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// The value of an `Authorization` header; no log of headers shows it.
    pub fn bearer(&self) -> Result<HeaderValue, InvalidSecret> {
        let word = Some(self.reveal()).filter(|text| is_word(text)).ok_or(InvalidSecret::NotOneWord)?;
        let value = HeaderValue::from_str(&format!("Bearer {word}"));
        let mut value = value.map_err(|_| InvalidSecret::NotOneWord)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A text of somebody else without this secret, whole or as others abbreviate it.
    pub fn redact(&self, text: &str) -> String {
        // JSON may write a slash with a backslash before it.
        let text = text.replace("\\/", "/").replace(self.reveal(), "…");
        let start: String = self.reveal().chars().take(SHOWN_START).collect();
        let is_part = |word: &str| word.contains(&start) && (word.contains('*') || word.contains(".."));
        let clean = text.split(' ').map(|word| if is_part(word) { "…" } else { word });
        clean.collect::<Vec<_>>().join(" ")
    }
}

fn is_word(text: &str) -> bool {
    (1..=MAX_HEADER_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Compares settings. What a caller sends is never compared with it: that goes by hashes and signatures.
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
