//! A secret that opens an object store.

use std::fmt;

/// The longest secret that is taken.
const LONGEST: usize = 4096;

/// A secret key. It has no `Display`, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Why a text is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret is one line of visible characters; check that it was copied whole")]
pub struct InvalidSecret;

impl Secret {
    /// Takes a secret as it stands in a variable or a file; spaces around it are no part of it.
    pub fn new(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST || text.contains(char::is_control) {
            return Err(InvalidSecret);
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, for where it must be handed over.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
