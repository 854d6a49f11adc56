//! Made-up words and chance, the same on every machine.

use std::collections::BTreeSet;

/// Gives numbers that look random and are the same in every run (SplitMix64).
pub(in crate::skills) struct Dice(u64);

/// Every word that keywords and texts are made of; common ones first.
pub(in crate::skills) struct Words(Vec<String>);

const SYLLABLES: [&str; 40] = [
    "an", "ar", "ba", "be", "cal", "con", "da", "der", "di", "en", "er", "fi", "gra", "hel", "in", "is",
    "ka", "la", "li", "ma", "mo", "na", "no", "or", "pa", "per", "qui", "ra", "re", "ri", "sa", "ser", "so",
    "ta", "tem", "to", "tri", "va", "ver", "zo",
];

impl Dice {
    pub(in crate::skills) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 on and below that one.
    pub(in crate::skills) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let number = (mixed ^ (mixed >> 31)) >> 32;
        usize::try_from(number).unwrap_or_default() % end.max(1)
    }

    /// A number in that range, both ends included.
    pub(in crate::skills) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// One of those.
    pub(in crate::skills) fn one_of<'a, T: AsRef<str>>(&mut self, all: &'a [T]) -> &'a str {
        all.get(self.below(all.len())).map_or("", AsRef::as_ref)
    }
}

impl Words {
    /// So many words of two to four syllables.
    pub(in crate::skills) fn new(count: usize) -> Self {
        let mut dice = Dice::new(1);
        let mut known = BTreeSet::new();
        let mut words = Vec::with_capacity(count);
        while words.len() < count {
            let word: String = (0..dice.between(2, 4)).map(|_| dice.one_of(&SYLLABLES)).collect();
            if word.len() > 3 && known.insert(word.clone()) {
                words.push(word);
            }
        }
        Self(words)
    }

    /// A word; the first ones far more often than the last, as in what people write.
    pub(in crate::skills) fn common(&self, dice: &mut Dice) -> &str {
        let reach = dice.between(1, self.0.len());
        let reach = dice.between(1, reach);
        self.0.get(dice.below(reach)).map_or("", String::as_str)
    }

    /// Any word, each as often as the other.
    pub(in crate::skills) fn any(&self, dice: &mut Dice) -> &str {
        dice.one_of(&self.0)
    }
}
