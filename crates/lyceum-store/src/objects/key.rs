//! What an object is called.

use std::fmt;

use lyceum_model::RelPath;

/// The name of an object, such as `content/guide/getting-started.json`.
///
/// Invariant: 1 to 1024 bytes, `/` between its parts, no empty, `.` or `..` part, no control character and nothing
/// else that a store may lose. Holding one *is* the proof. Keys that differ are objects that differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

/// Why a text is not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} can't be the name of an object: {reason}")]
pub struct InvalidKey {
    text: String,
    reason: &'static str,
}

impl Key {
    /// The longest key, in bytes: what S3 takes.
    pub(super) const MAX_BYTES: usize = 1024;

    /// Parses a key; the only way to make one of text.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        match fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(InvalidKey { text: text.chars().take(80).collect(), reason }),
        }
    }

    /// The key of a parsed document: `content/{content_type}/{id}.json`. An id may have `/` in it, a type may not.
    pub fn content(content_type: &str, id: &str) -> Result<Self, InvalidKey> {
        if content_type.contains('/') {
            return Err(InvalidKey {
                text: content_type.to_owned(),
                reason: "a content type has no / in it",
            });
        }
        Self::parse(&format!("content/{content_type}/{id}.json"))
    }

    /// The key of a file as it came from its source: `raw/{path}`.
    pub fn raw(path: &RelPath) -> Result<Self, InvalidKey> {
        Self::parse(&format!("raw/{path}"))
    }

    /// The key of the list of everything that is kept: `metadata/manifest.json`.
    pub fn manifest() -> Self {
        Self("metadata/manifest.json".to_owned())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > Key::MAX_BYTES {
        return Some("it is longer than 1024 bytes");
    }
    // S3 lists keys in XML, which has no place for the last two.
    if text.contains(|c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}')) {
        return Some("it has a control character");
    }
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some("it has an empty part, . or ..");
    }
    None
}
