//! Moments that nobody chose: for tests that kill at random.

/// Not random enough for secrets, but for the times of kills.
pub struct Dice(u64);

impl Dice {
    /// Throws with a seed of its own, and says which.
    pub fn drawn() -> std::io::Result<Self> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)?;
        let seed = u64::from_le_bytes(seed) | 1;
        eprintln!("the seed is {seed}");
        Ok(Self(seed))
    }

    /// A number below that one.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Another dice, for someone who throws at the same time.
    pub fn another(&mut self) -> Self {
        Self(self.below(u64::MAX) | 1)
    }
}
