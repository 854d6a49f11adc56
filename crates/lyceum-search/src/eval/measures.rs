//! Ranking metrics: nDCG, reciprocal rank, recall, hit rate. Pure.
//!
//! Computed as in `trec_eval` and BEIR: linear gain, logarithmic discount, and every graded page counts as relevant.

/// The gains of a ranked list, and the ideal gains.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedResults {
    gains: Vec<f64>,
    /// In descending order.
    ideal: Vec<f64>,
}

impl JudgedResults {
    /// Takes the gains of the results in rank order, and the gains of all relevant pages in any order.
    pub fn new(gains: Vec<f64>, mut all: Vec<f64>) -> Self {
        all.retain(|gain| *gain > 0.0);
        all.sort_by(|a, b| b.total_cmp(a));
        Self { gains, ideal: all }
    }

    /// Normalized discounted cumulative gain at `depth`.
    pub fn ndcg(&self, depth: usize) -> f64 {
        ratio(dcg(&self.gains, depth), dcg(&self.ideal, depth))
    }

    /// Reciprocal rank of the first relevant result within `depth`, else 0.
    pub fn reciprocal_rank(&self, depth: usize) -> f64 {
        let first = self.gains.iter().take(depth).position(|gain| *gain > 0.0);
        first.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0))
    }

    /// Recall at `depth`.
    pub fn recall(&self, depth: usize) -> f64 {
        let found = self.gains.iter().take(depth).filter(|gain| **gain > 0.0).count();
        ratio(found as f64, self.ideal.len() as f64)
    }

    /// 1 if a relevant result is within `depth`, else 0.
    pub fn hit(&self, depth: usize) -> f64 {
        if self.reciprocal_rank(depth) > 0.0 { 1.0 } else { 0.0 }
    }
}

fn dcg(gains: &[f64], depth: usize) -> f64 {
    let ranks = gains.iter().take(depth).enumerate();
    ranks.map(|(rank, gain)| gain / (rank as f64 + 2.0).log2()).sum()
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests;
