//! Generated words and deterministic random numbers.

use std::collections::BTreeSet;

/// Deterministic random numbers (SplitMix64).
pub(in crate::skills) struct Random(u64);

/// The vocabulary; common words first.
pub(in crate::skills) struct Words(Vec<String>);

const SYLLABLES: [&str; 40] = [
    "an", "ar", "ba", "be", "cal", "con", "da", "der", "di", "en", "er", "fi", "gra", "hel", "in", "is",
    "ka", "la", "li", "ma", "mo", "na", "no", "or", "pa", "per", "qui", "ra", "re", "ri", "sa", "ser", "so",
    "ta", "tem", "to", "tri", "va", "ver", "zo",
];

impl Random {
    pub(in crate::skills) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to but excluding `end`.
    pub(in crate::skills) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let number = (mixed ^ (mixed >> 31)) >> 32;
        usize::try_from(number).unwrap_or_default() % end.max(1)
    }

    /// A number in an inclusive range.
    pub(in crate::skills) fn between(&mut self, min: usize, max: usize) -> usize {
        min + self.below(max.saturating_sub(min) + 1)
    }

    /// A random element.
    pub(in crate::skills) fn one_of<'a, T: AsRef<str>>(&mut self, all: &'a [T]) -> &'a str {
        all.get(self.below(all.len())).map_or("", AsRef::as_ref)
    }
}

impl Words {
    /// Generates words of two to four syllables.
    pub(in crate::skills) fn new(count: usize) -> Self {
        let mut random = Random::new(1);
        let mut known = BTreeSet::new();
        let mut words = Vec::with_capacity(count);
        while words.len() < count {
            let word: String = (0..random.between(2, 4)).map(|_| random.one_of(&SYLLABLES)).collect();
            if word.len() > 3 && known.insert(word.clone()) {
                words.push(word);
            }
        }
        Self(words)
    }

    /// A word; the first ones are far more frequent, as in natural text.
    pub(in crate::skills) fn common(&self, random: &mut Random) -> &str {
        let reach = random.between(1, self.0.len());
        let reach = random.between(1, reach);
        self.0.get(random.below(reach)).map_or("", String::as_str)
    }

    /// A word, uniformly distributed.
    pub(in crate::skills) fn any(&self, random: &mut Random) -> &str {
        random.one_of(&self.0)
    }
}
