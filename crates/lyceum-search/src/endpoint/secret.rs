//! A key that opens an endpoint.

use std::fmt;

use reqwest::header::HeaderValue;

/// The longest key that is taken.
const LONGEST: usize = 4096;

/// A key. It has no `Display`, and `Debug` hides it.
#[derive(Clone)]
pub struct Secret {
    text: String,
    bearer: HeaderValue,
}

/// Why a text is no key. Does not repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is one word of visible ASCII characters; check that it was copied whole")]
pub struct InvalidSecret;

impl Secret {
    /// Takes a key as it stands in a variable or a file; spaces around it are no part of it.
    pub fn new(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidSecret);
        }
        let mut bearer = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| InvalidSecret)?;
        bearer.set_sensitive(true);
        Ok(Self { text: text.to_owned(), bearer })
    }

    /// What goes into the header of a request.
    pub(super) fn bearer(&self) -> HeaderValue {
        self.bearer.clone()
    }

    /// A text of somebody else without this key, whole or as others abbreviate it.
    pub(super) fn taken_out_of(&self, text: &str) -> String {
        // JSON may write a slash with a backslash before it.
        let text = text.replace("\\/", "/").replace(&self.text, "…");
        let start: String = self.text.chars().take(4).collect();
        let is_part = |word: &str| word.contains(&start) && (word.contains('*') || word.contains(".."));
        let clean = text.split(' ').map(|word| if is_part(word) { "…" } else { word });
        clean.collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
