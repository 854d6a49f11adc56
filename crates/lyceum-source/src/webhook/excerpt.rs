//! Extracts the relevant fields of a push while its body arrives.
//!
//! A push may be 25 MiB, and until its last byte the sender is not authenticated. So the body is not buffered: values
//! nested deeper than the repository's fields become `null`, and long strings become empty. This needs no parsing; the
//! excerpt is parsed once the signature is verified.

use super::Push;

/// Nesting depth of the repository's fields.
const MAX_DEPTH: usize = 2;

/// Maximum length of a string.
const MAX_STRING_BYTES: usize = 4 * 1024;

/// Maximum size of the excerpt: a push of 2,048 commits leaves 10 KiB of them.
const MAX_EXCERPT_BYTES: usize = 64 * 1024;

/// Excerpt of a push. Its size is bounded, whatever the size of the body.
#[derive(Debug, Default)]
pub struct Excerpt {
    buffer: Vec<u8>,
    depth: usize,
    string: StringState,
    is_full: bool,
}

/// State of the scanner with regard to strings.
#[derive(Debug, Default)]
enum StringState {
    /// Outside a string.
    #[default]
    Outside,
    /// In a string that is kept, which starts at `start`.
    Kept { start: usize },
    /// In a string that is dropped.
    Dropped,
    /// After a backslash, in a string.
    Escaped(Option<usize>),
}

impl Excerpt {
    /// Adds the next part of the body.
    pub fn update(&mut self, part: &[u8]) {
        part.iter().for_each(|byte| self.take(*byte));
    }

    /// Parses the push once the body is complete.
    pub fn finish(self) -> Result<Push, String> {
        if self.is_full {
            return Err("it has too many fields".to_owned());
        }
        Push::parse(&self.buffer)
    }

    fn take(&mut self, byte: u8) {
        match (&self.string, byte) {
            (StringState::Outside, b'"') => {
                self.string = if self.depth > MAX_DEPTH {
                    StringState::Dropped
                } else {
                    StringState::Kept { start: self.buffer.len() }
                };
                self.keep(byte);
            }
            (StringState::Outside, b'{' | b'[') => {
                self.depth = self.depth.saturating_add(1);
                if self.depth == MAX_DEPTH + 1 {
                    b"null".iter().for_each(|byte| self.push(*byte));
                }
                self.keep(byte);
            }
            (StringState::Outside, b'}' | b']') => {
                self.keep(byte);
                self.depth = self.depth.saturating_sub(1);
            }
            (StringState::Outside, b' ' | b'\t' | b'\r' | b'\n') => {}
            (StringState::Outside, _) => self.keep(byte),
            (StringState::Kept { .. }, b'"') => {
                self.push(byte);
                self.string = StringState::Outside;
            }
            (StringState::Kept { start }, b'\\') => {
                self.string = StringState::Escaped(Some(*start));
                self.push(byte);
            }
            (StringState::Kept { start }, _) => {
                let start = *start;
                self.push(byte);
                self.shorten(start);
            }
            (StringState::Dropped, b'"') => {
                self.string = StringState::Outside;
                self.keep(byte);
            }
            (StringState::Dropped, b'\\') => self.string = StringState::Escaped(None),
            (StringState::Dropped | StringState::Escaped(None), _) => self.string = StringState::Dropped,
            (StringState::Escaped(Some(start)), _) => {
                let start = *start;
                self.string = StringState::Kept { start };
                self.push(byte);
                self.shorten(start);
            }
        }
    }

    /// Empties a string that exceeds the limit, and drops the rest of it.
    fn shorten(&mut self, start: usize) {
        if self.buffer.len().saturating_sub(start) > MAX_STRING_BYTES {
            self.buffer.truncate(start.saturating_add(1));
            self.string = StringState::Dropped;
        }
    }

    /// Keeps a byte that is not nested too deep.
    fn keep(&mut self, byte: u8) {
        if self.depth <= MAX_DEPTH {
            self.push(byte);
        }
    }

    fn push(&mut self, byte: u8) {
        if self.buffer.len() < MAX_EXCERPT_BYTES {
            self.buffer.push(byte);
        } else {
            self.is_full = true;
        }
    }
}

#[cfg(test)]
mod tests;
