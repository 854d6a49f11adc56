//! What matters of a push, taken out while its body arrives.
//!
//! A push may have 25 MiB, and until its last byte nobody knows who sent it. So its bytes are not kept: what is nested
//! deeper than the repository's own fields becomes `null`, and long strings become empty. That is done without
//! understanding anything; what is left is parsed once the signature is right.

use super::Push;

/// How deep the fields of the repository are.
const MAX_DEPTH: usize = 2;

/// The longest string that is kept.
const MAX_STRING_BYTES: usize = 4 * 1024;

/// How much is kept at most: a push of 2,048 commits leaves 10 KiB of them.
const MAX_EXCERPT_BYTES: usize = 64 * 1024;

/// What matters of a push. Its size does not grow with that of the body.
#[derive(Debug, Default)]
pub struct Excerpt {
    kept: Vec<u8>,
    depth: usize,
    text: Text,
    is_full: bool,
}

/// Where in a string the next byte is.
#[derive(Debug, Default)]
enum Text {
    /// In none.
    #[default]
    Outside,
    /// In one that is kept, which begins there.
    Kept { start: usize },
    /// In one that is not.
    Dropped,
    /// After a backslash, in a string.
    Escaped(Option<usize>),
}

impl Excerpt {
    /// Takes the next part of the body.
    pub fn update(&mut self, part: &[u8]) {
        part.iter().for_each(|byte| self.take(*byte));
    }

    /// The push, once the body is whole.
    pub fn finish(self) -> Result<Push, String> {
        if self.is_full {
            return Err("it has too many fields".to_owned());
        }
        Push::parse(&self.kept)
    }

    fn take(&mut self, byte: u8) {
        match (&self.text, byte) {
            (Text::Outside, b'"') => {
                self.text = if self.depth > MAX_DEPTH {
                    Text::Dropped
                } else {
                    Text::Kept { start: self.kept.len() }
                };
                self.keep(byte);
            }
            (Text::Outside, b'{' | b'[') => {
                self.depth = self.depth.saturating_add(1);
                if self.depth == MAX_DEPTH + 1 {
                    b"null".iter().for_each(|byte| self.push(*byte));
                }
                self.keep(byte);
            }
            (Text::Outside, b'}' | b']') => {
                self.keep(byte);
                self.depth = self.depth.saturating_sub(1);
            }
            (Text::Outside, b' ' | b'\t' | b'\r' | b'\n') => {}
            (Text::Outside, _) => self.keep(byte),
            (Text::Kept { .. }, b'"') => {
                self.push(byte);
                self.text = Text::Outside;
            }
            (Text::Kept { start }, b'\\') => {
                self.text = Text::Escaped(Some(*start));
                self.push(byte);
            }
            (Text::Kept { start }, _) => {
                let start = *start;
                self.push(byte);
                self.shorten(start);
            }
            (Text::Dropped, b'"') => {
                self.text = Text::Outside;
                self.keep(byte);
            }
            (Text::Dropped, b'\\') => self.text = Text::Escaped(None),
            (Text::Dropped | Text::Escaped(None), _) => self.text = Text::Dropped,
            (Text::Escaped(Some(start)), _) => {
                let start = *start;
                self.text = Text::Kept { start };
                self.push(byte);
                self.shorten(start);
            }
        }
    }

    /// Empties a string that has become too long, and keeps nothing more of it.
    fn shorten(&mut self, start: usize) {
        if self.kept.len().saturating_sub(start) > MAX_STRING_BYTES {
            self.kept.truncate(start.saturating_add(1));
            self.text = Text::Dropped;
        }
    }

    /// Keeps a byte that is not nested too deep.
    fn keep(&mut self, byte: u8) {
        if self.depth <= MAX_DEPTH {
            self.push(byte);
        }
    }

    fn push(&mut self, byte: u8) {
        if self.kept.len() < MAX_EXCERPT_BYTES {
            self.kept.push(byte);
        } else {
            self.is_full = true;
        }
    }
}

#[cfg(test)]
mod tests;
