//! Counts query terms in a text: a cheap approximation that selects the passage to show.

use crate::lexical::ParsedQuery;

/// Stems of a query, matched as word prefixes. A final `i` is dropped because stemming turns `y` into `i`.
#[derive(Debug)]
pub(super) struct Stems<'w> {
    /// Stems with an ASCII first letter, and a bit set of those letters.
    ascii: Vec<&'w str>,
    first_letters: u128,
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
        let first_letters =
            ascii.iter().filter_map(|stem| bit(*stem.as_bytes().first()?)).fold(0, |all, bit| all | bit);
        Self { ascii, first_letters, non_ascii }
    }

    /// Number of stems that occur at the start of a word.
    pub(super) fn count(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let (mut found, mut before) = (0_u128, b' ');
        for (at, byte) in bytes.iter().enumerate() {
            let is_word_start = !is_word_byte(before);
            before = *byte;
            if !is_word_start
                || bit(byte.to_ascii_lowercase()).is_none_or(|bit| self.first_letters & bit == 0)
            {
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

fn bit(first: u8) -> Option<u128> {
    1_u128.checked_shl(first.into())
}

/// Whether a byte is part of a word: a letter, a digit, or non-ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
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
