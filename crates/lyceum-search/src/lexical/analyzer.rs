//! Words: how a text becomes terms, the same for pages and for questions.
//!
//! Words are split at everything that is no letter or digit; `camelCase` and `snake_case` give their parts and the whole,
//! so that code is found by either. Letters of scripts without spaces are words of their own. Then English stemming. Words
//! that every text has are in the index too, but a question is asked without them where it has others.

use std::{collections::HashSet, sync::LazyLock};

use tantivy::tokenizer::{Language, RemoveLongFilter, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

/// Words longer than this are no words that anyone would look for.
const LONGEST: usize = 64;

/// Words that every text has.
const COMMON: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there \
    these they this to was will with i me my we our you your he she his her its him us am been being have has had \
    having do does did doing would should could ought can may might must shall from about against between through \
    during before after above below up down out off over under again further once here when where why how what which \
    who whom whose all any both each few more most other some nor only own same so than too very s t don just now \
    also while because until those them";

/// What makes terms of texts.
pub(crate) fn analyzer() -> TextAnalyzer {
    static STEMMING: LazyLock<TextAnalyzer> = LazyLock::new(|| {
        let stems = Stemmer::new(Language::English);
        TextAnalyzer::builder(Words).filter(RemoveLongFilter::limit(LONGEST)).filter(stems).build()
    });
    STEMMING.clone()
}

/// Words as they are written, in lower case: what is suggested to people.
pub(crate) fn plain() -> TextAnalyzer {
    TextAnalyzer::builder(Words).filter(RemoveLongFilter::limit(LONGEST)).build()
}

/// Whether every text has that word, in lower case.
pub(crate) fn is_common(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| COMMON.split_whitespace().collect());
    WORDS.contains(word)
}

/// Splits a text into words and the parts of words.
#[derive(Debug, Clone, Default)]
struct Words;

/// A word or a part of one: from and to which byte, and its place among the words.
#[derive(Debug)]
struct Piece {
    from: usize,
    to: usize,
    position: usize,
    text: String,
}

struct Stream {
    pieces: std::vec::IntoIter<Piece>,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream {
        Stream { pieces: pieces(text).into_iter(), token: Token::default() }
    }
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        let Some(piece) = self.pieces.next() else { return false };
        let Piece { from, to, position, text } = piece;
        self.token = Token { offset_from: from, offset_to: to, position, text, position_length: 1 };
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut all = Vec::with_capacity(text.len() / 5);
    let mut position = 0;
    let mut from = None;
    for (at, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() || c == '_';
        match (from, is_word) {
            (None, true) => from = Some(at),
            (Some(start), false) => {
                word(text, start, at, &mut position, &mut all);
                from = None;
            }
            _ => {}
        }
    }
    if let Some(start) = from {
        word(text, start, text.len(), &mut position, &mut all);
    }
    all
}

/// The parts of a word, and where there are several the whole of it, at the place of the first.
fn word(text: &str, from: usize, to: usize, position: &mut usize, all: &mut Vec<Piece>) {
    let Some(whole) = text.get(from..to) else { return };
    let parts = parts(whole);
    if parts.len() > 1 && !whole.chars().any(stands_alone) {
        let joined = whole.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect();
        all.push(Piece { from, to, position: *position, text: joined });
    }
    for (start, end) in parts {
        if let Some(part) = whole.get(start..end) {
            let text = part.to_lowercase();
            all.push(Piece { from: from + start, to: from + end, position: *position, text });
            *position += 1;
        }
    }
}

/// Where a word begins anew: after `_`, from small letters to a capital, before the last of several capitals that small
/// letters follow, and between letters and digits.
fn parts(word: &str) -> Vec<(usize, usize)> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let is_one_case = !word.chars().any(char::is_uppercase);
    let mut parts = Vec::new();
    let mut start = None;
    for (place, (at, c)) in chars.iter().enumerate() {
        if *c == '_' {
            parts.extend(start.take().map(|start| (start, *at)));
            continue;
        }
        let before = place.checked_sub(1).and_then(|place| chars.get(place)).map(|(_, c)| *c);
        let after = chars.get(place + 1).map(|(_, c)| *c);
        let begins = before.is_some_and(|before| {
            stands_alone(*c)
                || stands_alone(before)
                || (!is_one_case
                    && ((c.is_uppercase() && !before.is_uppercase())
                        || (c.is_uppercase() && after.is_some_and(char::is_lowercase))
                        || c.is_ascii_digit() != before.is_ascii_digit()))
        });
        if begins {
            parts.extend(start.take().map(|start| (start, *at)));
        }
        start.get_or_insert(*at);
    }
    parts.extend(start.map(|start| (start, word.len())));
    parts
}

/// Scripts that are written without spaces: each letter is found on its own.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests;
