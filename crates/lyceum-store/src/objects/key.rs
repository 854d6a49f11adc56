//! Keys of objects.

use std::fmt;

use lyceum_model::RelPath;

/// The key of an object, such as `content/guide/getting-started.json`.
///
/// Invariant: 1 to 1024 bytes, separated by `/`, no empty, `.` or `..` segment, no control character or other
/// character that a store may not preserve. Holding one *is* the proof. Different keys are different objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

/// Why a text is not a valid key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid object key {text:?}: {reason}")]
pub struct InvalidKey {
    text: String,
    reason: &'static str,
}

impl Key {
    /// Maximum length in bytes, as in S3.
    pub(super) const MAX_BYTES: usize = 1024;

    /// Parses a key; the only way to create one from text.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        match fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(InvalidKey { text: text.chars().take(80).collect(), reason }),
        }
    }

    /// The key of a parsed document: `content/{content_type}/{id}.json`. An id may contain `/`, a type may not.
    pub fn content(content_type: &str, id: &str) -> Result<Self, InvalidKey> {
        if content_type.contains('/') {
            return Err(InvalidKey {
                text: content_type.to_owned(),
                reason: "a content type must not contain /",
            });
        }
        Self::parse(&format!("content/{content_type}/{id}.json"))
    }

    /// The key of a source file in its original form: `raw/{path}`.
    pub fn raw(path: &RelPath) -> Result<Self, InvalidKey> {
        Self::parse(&format!("raw/{path}"))
    }

    /// The key of the manifest of all objects: `metadata/manifest.json`.
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
    // S3 lists keys in XML, which can't represent the last two.
    if text.contains(|c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}')) {
        return Some("it has a control character");
    }
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some("it has an empty part, . or ..");
    }
    None
}
