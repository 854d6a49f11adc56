//! Measures: how good an order of results is. Pure.
//!
//! As `trec_eval` and BEIR reckon them: the gain is the grade itself, the discount the logarithm of the place, and
//! whatever has a grade counts as an answer.

/// What each result is worth, in the order they were found in, and everything that could be had.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedResults {
    gains: Vec<f64>,
    /// The best first.
    ideal: Vec<f64>,
}

impl JudgedResults {
    /// What was found, in order, and what could be had, in any order.
    pub fn new(gains: Vec<f64>, mut all: Vec<f64>) -> Self {
        all.retain(|gain| *gain > 0.0);
        all.sort_by(|a, b| b.total_cmp(a));
        Self { gains, ideal: all }
    }

    /// The gain of the first so many results, each discounted by its place, as a share of the best there could be.
    pub fn ndcg(&self, depth: usize) -> f64 {
        share(discounted(&self.gains, depth), discounted(&self.ideal, depth))
    }

    /// One by the place of the first answer; nothing where there is none among so many.
    pub fn reciprocal_rank(&self, depth: usize) -> f64 {
        let first = self.gains.iter().take(depth).position(|gain| *gain > 0.0);
        first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))
    }

    /// The share of all answers that are among the first so many results.
    pub fn recall(&self, depth: usize) -> f64 {
        let found = self.gains.iter().take(depth).filter(|gain| **gain > 0.0).count();
        share(found as f64, self.ideal.len() as f64)
    }

    /// One where an answer is among the first so many results, else nothing.
    pub fn hit(&self, depth: usize) -> f64 {
        if self.reciprocal_rank(depth) > 0.0 { 1.0 } else { 0.0 }
    }
}

fn discounted(gains: &[f64], depth: usize) -> f64 {
    let places = gains.iter().take(depth).enumerate();
    places.map(|(place, gain)| gain / (place as f64 + 2.0).log2()).sum()
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests;
