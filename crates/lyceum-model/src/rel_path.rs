//! Relative paths that stay below their root.
//!
//! Every path from a caller, a file listing or a Git tree is parsed into a `RelPath` before use; nothing checks it
//! again later.

use std::{borrow::Borrow, fmt};

use serde::Serialize;

/// Maximum length of a path.
const MAX_PATH_BYTES: usize = 1024;

/// Maximum length of a segment, as file systems limit it.
const MAX_SEGMENT_BYTES: usize = 255;

/// Characters that look like `/` or `\`.
const SLASH_LIKE: [char; 8] =
    ['\u{2044}', '\u{2215}', '\u{29F8}', '\u{FF0F}', '\u{2216}', '\u{29F5}', '\u{29F9}', '\u{FF3C}'];

/// Characters that look like one or more dots.
const DOT_LIKE: [char; 5] = ['\u{2024}', '\u{2025}', '\u{2026}', '\u{FE52}', '\u{FF0E}'];

/// A `/`-separated path below some root, such as `ui/react/auth.md`.
///
/// Invariant: not empty, not absolute, at most 1024 bytes, no `\`, no control character, no empty, `.` or `..`
/// segment, not even percent-encoded or in lookalike characters. Holding one *is* the proof.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RelPath(String);

/// Why a text is not a valid relative path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a path that stays in its folder: {reason}")]
pub struct InvalidPath {
    text: String,
    reason: &'static str,
}

impl RelPath {
    /// Parses untrusted input; the only way to create a `RelPath` from text.
    pub fn parse(text: &str) -> Result<Self, InvalidPath> {
        match fault(text).or_else(|| encoded_fault(text)) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(InvalidPath { text: text.chars().take(80).collect(), reason }),
        }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The parent folder, if any.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.to_owned()))
    }

    /// The extension with its dot, such as `.md`; empty if there is none.
    pub fn extension(&self) -> &str {
        let name = self.name();
        name.rfind('.').filter(|at| *at > 0).and_then(|at| name.get(at..)).unwrap_or_default()
    }

    /// Removes a suffix; `None` if the path doesn't end with it, or if no name would be left.
    pub fn strip_suffix(&self, suffix: &str) -> Option<Self> {
        let rest = self.0.strip_suffix(suffix)?;
        (!rest.is_empty() && !rest.ends_with('/')).then(|| Self(rest.to_owned()))
    }

    /// The path relative to `folder`, if it is below it.
    pub fn below(&self, folder: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(folder.as_str())?.strip_prefix('/')?;
        Some(Self(rest.to_owned()))
    }

    /// Appends a path; `None` if the result would be too long.
    pub fn join(&self, below: &Self) -> Option<Self> {
        let joined = format!("{}/{below}", self.0);
        (joined.len() <= MAX_PATH_BYTES).then_some(Self(joined))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

fn fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > MAX_PATH_BYTES || text.split('/').any(|segment| segment.len() > MAX_SEGMENT_BYTES) {
        return Some("it is too long");
    }
    if text.starts_with('/') || text.get(1..2) == Some(":") {
        return Some("it is absolute; write it from the folder on");
    }
    if text.contains('\\') || text.contains(SLASH_LIKE) {
        return Some("write / between its parts");
    }
    if text.contains(char::is_control) {
        return Some("it has a control character");
    }
    let only_dots = |segment: &str| {
        segment.chars().all(|c| c == '.' || DOT_LIKE.contains(&c)) && segment.chars().count() < 3
    };
    text.split('/').any(only_dots).then_some("it has an empty part, . or ..")
}

/// Checks the percent-decoded path, decoded up to twice: nothing decodes a path after this check, but a downstream
/// consumer might.
fn encoded_fault(text: &str) -> Option<&'static str> {
    if !text.contains('%') {
        return None;
    }
    let mut text = text.to_owned();
    for _ in 0..2 {
        let decoded = decode(&text);
        if decoded == text {
            return None;
        }
        let separators = |text: &str| text.matches(['/', '\\']).count();
        if fault(&decoded).is_some() || separators(&decoded) != separators(&text) {
            return Some("it is percent-encoded; write it plainly");
        }
        text = decoded;
    }
    None
}

/// Percent-decodes; invalid UTF-8 becomes replacement characters.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let hex = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
