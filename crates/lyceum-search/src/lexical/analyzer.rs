//! Text analysis, the same for pages and queries: tokenization, lower case, English stemming.
//!
//! Tokens are split at everything except letters and digits. `camelCase` and `snake_case` yield both the parts and the
//! whole. Each character of scripts without spaces is a token. Stop words are indexed, but dropped from queries that
//! have other terms.

use std::{collections::HashSet, sync::LazyLock};

use tantivy::tokenizer::{Language, RemoveLongFilter, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

/// Longer tokens are dropped.
const MAX_WORD_BYTES: usize = 64;

/// English stop words.
const STOP_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there \
    these they this to was will with i me my we our you your he she his her its him us am been being have has had \
    having do does did doing would should could ought can may might must shall from about against between through \
    during before after above below up down out off over under again further once here when where why how what which \
    who whom whose all any both each few more most other some nor only own same so than too very s t don just now \
    also while because until those them";

/// The stemming analyzer.
pub(crate) fn analyzer() -> TextAnalyzer {
    static STEMMING: LazyLock<TextAnalyzer> = LazyLock::new(|| stemming(WordTokenizer::default()));
    STEMMING.clone()
}

/// The stemming analyzer, restricted to words that can become one of these terms. Stemming changes the end of a word,
/// not its first letter.
pub(crate) fn analyzer_for<'a>(terms: impl Iterator<Item = &'a String>) -> TextAnalyzer {
    stemming(WordTokenizer { first_letters: Some(FirstLetters::of(terms)) })
}

fn stemming(words: WordTokenizer) -> TextAnalyzer {
    let stems = Stemmer::new(Language::English);
    TextAnalyzer::builder(words).filter(RemoveLongFilter::limit(MAX_WORD_BYTES)).filter(stems).build()
}

/// The analyzer without stemming, for suggestions.
pub(crate) fn plain() -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer::default()).filter(RemoveLongFilter::limit(MAX_WORD_BYTES)).build()
}

/// Whether a lower-case word is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}

/// A word of a text, and its stem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The stem, in lower case.
    pub stem: String,
    /// Where the word is in the text, in bytes.
    pub range: std::ops::Range<usize>,
}

/// The words of a text as the lexical index sees them, without stop words, in order.
pub fn terms(text: &str) -> Vec<Term> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut terms = Vec::new();
    while let Some(token) = stream.next() {
        let range = token.offset_from..token.offset_to;
        let is_stop = text.get(range.clone()).is_some_and(|word| is_stop_word(&word.to_lowercase()));
        if !is_stop {
            terms.push(Term { stem: token.text.clone(), range });
        }
    }
    terms
}

/// Splits a text into words and their parts.
#[derive(Debug, Clone, Default)]
struct WordTokenizer {
    /// Restricts tokens by first letter, if set.
    first_letters: Option<FirstLetters>,
}

/// A bit set of lower-case ASCII first letters. Non-ASCII letters always match.
#[derive(Debug, Clone, Copy)]
struct FirstLetters(u128);

impl FirstLetters {
    fn of<'a>(terms: impl Iterator<Item = &'a String>) -> Self {
        let bits = terms.filter_map(|term| term.bytes().next()).map(|first| 1_u128.checked_shl(first.into()));
        Self(bits.flatten().fold(0, |all, bit| all | bit))
    }

    /// Whether a word has one of the first letters. A leading `_` is not part of the word, so it always matches.
    fn has(self, word: &str) -> bool {
        let first = word.bytes().next().unwrap_or_default().to_ascii_lowercase();
        first == b'_' || 1_u128.checked_shl(first.into()).is_none_or(|bit| self.0 & bit != 0)
    }
}

/// A word or part of a word: byte range and token position.
#[derive(Debug)]
struct Piece {
    from: usize,
    to: usize,
    position: usize,
}

struct Stream<'a> {
    text: &'a str,
    pieces: std::vec::IntoIter<Piece>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        let mut pieces = pieces(text);
        if let Some(first_letters) = self.first_letters {
            pieces.retain(|piece| text.get(piece.from..piece.to).is_some_and(|word| first_letters.has(word)));
        }
        Stream { text, pieces: pieces.into_iter(), token: Token::default() }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(Piece { from, to, position }) = self.pieces.next() else { return false };
        let token = &mut self.token;
        (token.offset_from, token.offset_to, token.position) = (from, to, position);
        token.text.clear();
        lower(self.text.get(from..to).unwrap_or_default(), &mut token.text);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// Appends a word in lower case, without `_`.
fn lower(word: &str, into: &mut String) {
    if is_simple(word) {
        into.push_str(word);
        into.make_ascii_lowercase();
    } else {
        into.extend(word.chars().filter(|c| *c != '_').flat_map(char::to_lowercase));
    }
}

/// Whether a word is a single part, the common case: ASCII letters, lower case except perhaps the first.
fn is_simple(word: &str) -> bool {
    let mut letters = word.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic()) && letters.all(|c| c.is_ascii_lowercase())
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
                push_word(text, start, at, &mut position, &mut all);
                from = None;
            }
            _ => {}
        }
    }
    if let Some(start) = from {
        push_word(text, start, text.len(), &mut position, &mut all);
    }
    all
}

/// Pushes the parts of a word, preceded by the whole word at the same position if there are several parts.
fn push_word(text: &str, from: usize, to: usize, position: &mut usize, all: &mut Vec<Piece>) {
    let Some(whole) = text.get(from..to) else { return };
    if is_simple(whole) {
        all.push(Piece { from, to, position: *position });
        *position += 1;
        return;
    }
    let parts = parts(whole);
    if parts.len() > 1 && !whole.chars().any(is_cjk) {
        all.push(Piece { from, to, position: *position });
    }
    for (start, end) in parts {
        all.push(Piece { from: from + start, to: from + end, position: *position });
        *position += 1;
    }
}

/// Splits an identifier: at `_`, from lower to upper case, before the last capital of a run followed by lower case, and
/// between letters and digits.
fn parts(word: &str) -> Vec<(usize, usize)> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let is_one_case = !word.chars().any(char::is_uppercase);
    let mut parts = Vec::new();
    let mut start = None;
    for (index, (at, c)) in chars.iter().enumerate() {
        if *c == '_' {
            parts.extend(start.take().map(|start| (start, *at)));
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| chars.get(index)).map(|(_, c)| *c);
        let after = chars.get(index + 1).map(|(_, c)| *c);
        let is_boundary = before.is_some_and(|before| {
            is_cjk(*c)
                || is_cjk(before)
                || (!is_one_case
                    && ((c.is_uppercase() && !before.is_uppercase())
                        || (c.is_uppercase() && after.is_some_and(char::is_lowercase))
                        || c.is_ascii_digit() != before.is_ascii_digit()))
        });
        if is_boundary {
            parts.extend(start.take().map(|start| (start, *at)));
        }
        start.get_or_insert(*at);
    }
    parts.extend(start.map(|start| (start, word.len())));
    parts
}

/// Whether a character belongs to a script without spaces, where each character is a token.
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests;
