//! Numbers that nobody chose, the same ones each time.

/// Throws by a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below that one.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A number from -1 to 1, those around 0 more often.
    pub(crate) fn bell(&mut self) -> f32 {
        let thrown = self.below(1 << 40);
        let sum = (thrown & 1_023) + (thrown >> 10 & 1_023) + (thrown >> 20 & 1_023) + (thrown >> 30);
        f32::from(u16::try_from(sum).unwrap()) / 2_046.0 - 1.0
    }

    /// A vector of length one.
    pub(crate) fn direction(&mut self, dimensions: usize) -> Vec<f32> {
        unit((0..dimensions).map(|_| self.bell()).collect())
    }
}

/// The vector at length one.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}
