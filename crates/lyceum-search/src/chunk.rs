//! Chunks: the passages of a page that are found one by one. Pure.
//!
//! Every line of a page that says something is in exactly one chunk, in order, and none is much longer than what a model
//! reads at once.

mod code;
mod markdown;

use crate::page::Kind;

/// How long a chunk is at most, in bytes: about 200 tokens, and small models read 256.
const MAX_CHUNK_BYTES: usize = 900;

/// A section that is shorter goes together with the next.
const MIN_CHUNK_BYTES: usize = 250;

/// A passage of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The headings or definitions around it, from the outside in.
    pub heading: String,
    /// Its first line, from 1 on.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// Its text, as it was written.
    pub text: String,
}

/// Cuts a text into chunks.
pub(crate) fn chunks(kind: Kind, body: &str) -> Vec<Chunk> {
    match kind {
        Kind::Prose => markdown::chunks(body),
        Kind::Code => code::chunks(body),
    }
}

/// How long the name of one heading is at most, in characters: each chunk below it carries it along.
const MAX_HEADING_CHARS: usize = 120;

/// What separates the headings around a chunk.
const HEADING_SEPARATOR: &str = " › ";

/// Lines that are being put together.
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

    /// Ends the chunk, if it says anything.
    fn close(&mut self, into: &mut Vec<Chunk>) {
        let Self { heading, first_line, last_line, text } = std::mem::take(self);
        if text.chars().any(char::is_alphanumeric) {
            into.push(Chunk { heading, first_line, last_line, text: text.trim_end().to_owned() });
        }
    }

    /// Whether so many bytes more may go in. What is too short to stand alone takes them in any case.
    fn fits(&self, more: usize) -> bool {
        self.text.len() < MIN_CHUNK_BYTES || self.text.len() + more <= MAX_CHUNK_BYTES
    }
}

/// Puts a block of lines that belong together into the draft, or into as many chunks as it takes.
fn place(draft: &mut Draft, block: &[(usize, &str)], heading: &str, into: &mut Vec<Chunk>) {
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

/// A line that is longer than a chunk, cut between sentences, else words, else letters.
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
