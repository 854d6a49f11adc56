//! A secret that opens a repository.

use std::fmt;

/// The longest token that is taken: those of identity providers reach some thousands of bytes.
const LONGEST: usize = 16 * 1024;

/// A token or password. It has no `Display`, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why a text is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is one line without control characters; check that it was copied whole")]
pub struct InvalidToken;

impl Token {
    /// Takes a token as it stands in a variable or a file; spaces around it are no part of it.
    pub fn new(text: &str) -> Result<Self, InvalidToken> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST || text.contains(char::is_control) {
            return Err(InvalidToken);
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, for where it must be handed over.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
