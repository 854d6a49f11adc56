//! Ids of events and batches: ULIDs, unique and sortable by time.

use std::fmt;

use jiff::Timestamp;

/// Crockford's base 32.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Length of an id; five bits per character.
const ID_LETTERS: usize = 26;

/// A ULID: 48 bits of time in milliseconds, then 80 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id([u8; ID_LETTERS]);

impl Id {
    /// Generates an id; fails only if the system has no randomness.
    pub(super) fn new(now: Timestamp) -> Result<Self, getrandom::Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let time = u128::from(now.as_millisecond().max(0).unsigned_abs()) << 80;
        let bits = time | (u128::from_be_bytes(random) >> 48);
        Ok(Self(std::array::from_fn(|at| letter(bits >> (5 * (ID_LETTERS - 1 - at))))))
    }

    /// Parses an id from a file name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let letters: [u8; ID_LETTERS] = text.as_bytes().try_into().ok()?;
        letters.iter().all(|letter| ALPHABET.contains(letter)).then_some(Self(letters))
    }

    pub(super) fn as_str(&self) -> &str {
        // The alphabet is ASCII.
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

fn letter(bits: u128) -> u8 {
    ALPHABET.get((bits & 31) as usize).copied().unwrap_or(b'0')
}
