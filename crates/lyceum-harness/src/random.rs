//! Random numbers for tests, with a seed that is printed and can be set.

use std::time::Duration;

use anyhow::{Context, Result};

/// The variable that sets the seed.
const SEED_VARIABLE: &str = "LYCEUM_TEST_SEED";

/// Random numbers. Not for secrets.
pub struct Random(fastrand::Rng);

impl Random {
    /// A random seed, printed so that the run can be repeated.
    pub fn drawn() -> Result<Self> {
        let seed = match std::env::var(SEED_VARIABLE) {
            Ok(text) => text.parse().with_context(|| format!("{SEED_VARIABLE}={text} is not a number"))?,
            Err(_) => fastrand::u64(..),
        };
        eprintln!("random seed: repeat with {SEED_VARIABLE}={seed}");
        Ok(Self::of(seed))
    }

    /// A fixed seed.
    pub fn of(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    /// A duration below `limit`, in whole microseconds.
    pub fn shorter_than(&mut self, limit: Duration) -> Duration {
        let micros = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.0.u64(..micros))
    }

    /// A random element. `all` must not be empty.
    #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// An independent generator, for concurrent use.
    pub fn fork(&mut self) -> Self {
        Self(self.0.fork())
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        let numbers = |seed| {
            let mut random = Random::of(seed);
            let mut other = random.fork();
            [random.number(), other.number()]
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }
}
