//! Counts query terms in a text: a cheap approximation that selects the passage to show.

use crate::lexical::ParsedQuery;

/// Stems of a query, matched as word prefixes. A final `i` is dropped because stemming turns `y` into `i`.
#[derive(Debug)]
pub(super) struct Stems<'w> {
    /// Stems with an ASCII first letter.
    ascii: Vec<&'w str>,
    /// Whether one of them starts with a byte, in either case.
    is_first_letter: [bool; 256],
    /// Other stems, matched anywhere, since some scripts have no spaces between words.
    non_ascii: Vec<&'w str>,
}

impl<'w> Stems<'w> {
    pub(super) fn of(parsed: &'w ParsedQuery) -> Self {
        let stems = parsed.terms.iter().map(|term| term.strip_suffix('i').unwrap_or(term));
        let prefixes =
            parsed.prefixes.iter().filter(|prefix| !parsed.terms.contains(prefix)).map(String::as_str);
        let stems = stems.chain(prefixes).filter(|stem| !stem.is_empty());
        let (ascii, non_ascii): (Vec<&str>, Vec<&str>) =
            stems.partition(|stem| stem.starts_with(|first: char| first.is_ascii()));
        let mut is_first_letter = [false; 256];
        for first in ascii.iter().filter_map(|stem| stem.bytes().next()) {
            for letter in [first.to_ascii_lowercase(), first.to_ascii_uppercase()] {
                if let Some(is_first) = is_first_letter.get_mut(usize::from(letter)) {
                    *is_first = true;
                }
            }
        }
        Self { ascii, is_first_letter, non_ascii }
    }

    /// Number of stems that occur at the start of a word.
    pub(super) fn count(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let (mut found, mut is_in_word) = (0_u128, false);
        for (at, byte) in bytes.iter().enumerate() {
            let is_candidate = !is_in_word && lookup(&self.is_first_letter, *byte);
            is_in_word = lookup(&IS_WORD_BYTE, *byte);
            if !is_candidate {
                continue;
            }
            for (number, stem) in (0..).zip(&self.ascii) {
                let word = bytes.get(at..at + stem.len());
                if word.is_some_and(|word| word.eq_ignore_ascii_case(stem.as_bytes())) {
                    found |= 1_u128.checked_shl(number).unwrap_or_default();
                }
            }
        }
        let non_ascii = self.non_ascii.iter().filter(|stem| text.contains(**stem)).count();
        found.count_ones() as usize + non_ascii
    }
}

/// Whether a byte is part of a word: a letter, a digit, or non-ASCII. A table, because every byte of a chunk is looked up.
#[expect(clippy::indexing_slicing, reason = "a byte is below 256; `get_mut` is not const")]
const IS_WORD_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || !byte.is_ascii();
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

fn lookup(table: &[bool; 256], byte: u8) -> bool {
    table.get(usize::from(byte)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: &str, text: &str, count: usize) {
        assert_eq!(Stems::of(&ParsedQuery::of(question)).count(text), count, "{question:?} in {text:?}");
    }

    #[test]
    fn words_are_counted_once_in_every_form() {
        check("governing a cell", "Cells are GOVERNED, a cell governs.", 2);
        check("policies", "One policy, many policies", 1);
        check("policies", "police", 1);
        check("json", "parse_json and ajson", 1);
        check("json", "ajson", 0);
        check("govern*", "governance", 1);
        check("治理", "民主治理", 2);
        check("école", "une École, l'école", 1);
        check("the", "There", 1);
        check("", "anything", 0);
        check("end", "the end", 1);
        check("ending", "the en", 0);
    }
}
