//! Splits a page into chunks, the unit of embedding and retrieval. Pure.
//!
//! Every non-empty line of a page is in exactly one chunk, in order. No chunk is much longer than a model's context.

mod code;
mod markdown;

use crate::page::Kind;

/// Maximum length of a chunk, in bytes: about 200 tokens; small models read 256.
const MAX_CHUNK_BYTES: usize = 900;

/// Minimum length of a chunk, in bytes. A shorter section is merged with the next.
const MIN_CHUNK_BYTES: usize = 250;

/// A chunk of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Enclosing headings or definitions, outermost first.
    pub heading: String,
    /// First line, 1-based.
    pub first_line: usize,
    /// Last line, inclusive.
    pub last_line: usize,
    /// Verbatim text.
    pub text: String,
}

/// Splits a text into chunks.
pub(crate) fn chunks(kind: Kind, body: &str) -> Vec<Chunk> {
    match kind {
        Kind::Prose => markdown::chunks(body),
        Kind::Code => code::chunks(body),
    }
}

/// Maximum length of one heading, in characters: every chunk below repeats it.
const MAX_HEADING_CHARS: usize = 120;

/// Separator between nested headings.
const HEADING_SEPARATOR: &str = " › ";

/// A chunk under construction.
#[derive(Debug, Default)]
struct Draft {
    heading: String,
    first_line: usize,
    last_line: usize,
    text: String,
}

impl Draft {
    fn push(&mut self, number: usize, line: &str, heading: &str) {
        if self.text.is_empty() {
            heading.clone_into(&mut self.heading);
            self.first_line = number;
        } else {
            self.text.push('\n');
        }
        self.last_line = number;
        self.text.push_str(line);
    }

    /// Finishes the chunk; drops it if it has no letters or digits.
    fn close(&mut self, into: &mut Vec<Chunk>) {
        let Self { heading, first_line, last_line, text } = std::mem::take(self);
        if text.chars().any(char::is_alphanumeric) {
            into.push(Chunk { heading, first_line, last_line, text: text.trim_end().to_owned() });
        }
    }

    /// Whether `more` bytes fit. A draft below the minimum length always accepts more.
    fn fits(&self, more: usize) -> bool {
        self.text.len() < MIN_CHUNK_BYTES || self.text.len() + more <= MAX_CHUNK_BYTES
    }
}

/// Appends a block of lines, split over several chunks if necessary.
fn append(draft: &mut Draft, block: &[(usize, &str)], heading: &str, into: &mut Vec<Chunk>) {
    let length: usize = block.iter().map(|(_, line)| line.len() + 1).sum();
    if !draft.fits(length) {
        draft.close(into);
    }
    for (number, line) in block {
        for piece in pieces(line) {
            if !draft.fits(piece.len()) {
                draft.close(into);
            }
            draft.push(*number, piece, heading);
        }
    }
}

/// Splits an overlong line at a sentence, else at a word, else at a character.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        if text.len() <= MAX_CHUNK_BYTES {
            rest = None;
            return Some(text);
        }
        let window = text.get(..text.floor_char_boundary(MAX_CHUNK_BYTES)).unwrap_or(text);
        let sentence = window.rmatch_indices(". ").map(|(at, _)| at + 1).find(|at| *at > MAX_CHUNK_BYTES / 3);
        let at = sentence.or_else(|| window.rfind(' ').filter(|at| *at > 0)).unwrap_or(window.len());
        let (piece, after) = text.split_at_checked(at).unwrap_or((text, ""));
        rest = Some(after.trim_start_matches(' ')).filter(|after| !after.is_empty());
        Some(piece)
    })
}

#[cfg(test)]
mod tests;
