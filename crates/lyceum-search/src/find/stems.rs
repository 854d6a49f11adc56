//! How many words of a question a text has: a quick look that chooses the passage to show.

use crate::lexical::ParsedQuery;

/// How the words of a question begin: a stem is how a word begins, but for a letter that stemming changed.
#[derive(Debug)]
pub(super) struct Stems<'w> {
    /// Those that begin with a letter of ASCII, and a bit for each letter that one of them begins with.
    plain: Vec<&'w str>,
    firsts: u128,
    /// Those of scripts where words are not told apart by spaces.
    others: Vec<&'w str>,
}

impl<'w> Stems<'w> {
    pub(super) fn of(words: &'w ParsedQuery) -> Self {
        let stems = words.terms.iter().map(|term| term.strip_suffix('i').unwrap_or(term));
        let prefixes =
            words.prefixes.iter().filter(|prefix| !words.terms.contains(prefix)).map(String::as_str);
        let stems = stems.chain(prefixes).filter(|stem| !stem.is_empty());
        let (plain, others): (Vec<&str>, Vec<&str>) =
            stems.partition(|stem| stem.starts_with(|first: char| first.is_ascii()));
        let firsts =
            plain.iter().filter_map(|stem| bit(*stem.as_bytes().first()?)).fold(0, |all, bit| all | bit);
        Self { plain, firsts, others }
    }

    /// How many of them begin a word of the text.
    pub(super) fn count(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let (mut found, mut before) = (0_u128, b' ');
        for (at, byte) in bytes.iter().enumerate() {
            let begins = !is_letter(before);
            before = *byte;
            if !begins || bit(byte.to_ascii_lowercase()).is_none_or(|bit| self.firsts & bit == 0) {
                continue;
            }
            for (number, stem) in (0..).zip(&self.plain) {
                let word = bytes.get(at..at + stem.len());
                if word.is_some_and(|word| word.eq_ignore_ascii_case(stem.as_bytes())) {
                    found |= 1_u128.checked_shl(number).unwrap_or_default();
                }
            }
        }
        let others = self.others.iter().filter(|stem| text.contains(**stem)).count();
        found.count_ones() as usize + others
    }
}

fn bit(first: u8) -> Option<u128> {
    1_u128.checked_shl(first.into())
}

/// Whether a word goes on with this: letters and digits, and all that is not ASCII.
fn is_letter(byte: u8) -> bool {
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
