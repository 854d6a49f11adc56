//! In-memory flat vector index (ADR 11): a scan over binary codes, then rescoring with int8 vectors.
//!
//! Loaded from the database at start and kept up to date with it.

mod bytes;
mod kernel;
mod table;

use std::collections::HashMap;

use fearless_simd::Level;

pub(crate) use bytes::{decode, encode};
use kernel::QuantizedQuery;
pub use table::VectorTable;

/// Up to this many rows, all are scored with int8 vectors: exact, and as fast.
const MAX_EXACT_ROWS: usize = 10_000;

/// Number of rows rescored after the binary scan: at least this many, or this fraction (one in 200) of all rows.
const MIN_RESCORED_ROWS: usize = 1_000;
const RESCORED_FRACTION: usize = 200;

/// Removed rows are compacted once there are more than this many, and more than a quarter of all rows.
const MIN_COMPACTED_ROWS: usize = 1_000;

/// The page slot and chunk of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub slot: u32,
    pub chunk: i64,
}

/// A row and its cosine to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VectorHit {
    pub owner: Owner,
    pub cosine: f32,
}

/// The vectors of one model.
#[derive(Debug)]
pub(crate) struct FlatIndex {
    dimensions: usize,
    words_per_row: usize,
    codes: Vec<u64>,
    bytes: Vec<i8>,
    scales: Vec<f32>,
    owners: Vec<Option<Owner>>,
    removed: usize,
    level: Level,
}

impl FlatIndex {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            words_per_row: dimensions.div_ceil(64),
            codes: Vec::new(),
            bytes: Vec::new(),
            scales: Vec::new(),
            owners: Vec::new(),
            removed: 0,
            level: Level::new(),
        }
    }

    /// Number of rows.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.owners.iter().flatten().count()
    }

    /// Inserts an encoded vector; `false` if it is invalid or has other dimensions.
    pub(crate) fn insert(&mut self, owner: Owner, stored: &[u8]) -> bool {
        let Some((scale, bytes)) = decode(stored).filter(|(_, bytes)| bytes.len() == self.dimensions) else {
            return false;
        };
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        let row = self.bytes.get(start..).unwrap_or_default();
        self.codes.extend(row.chunks(64).map(kernel::signs));
        self.scales.push(scale);
        self.owners.push(Some(owner));
        true
    }

    /// Removes all rows of these slots.
    pub(crate) fn remove(&mut self, slots: &std::collections::HashSet<u32>) {
        if slots.is_empty() {
            return;
        }
        for owner in &mut self.owners {
            if owner.is_some_and(|owner| slots.contains(&owner.slot)) {
                *owner = None;
                self.removed += 1;
            }
        }
        if self.removed > MIN_COMPACTED_ROWS && self.removed * 4 > self.owners.len() {
            self.compact();
        }
    }

    /// Finds the rows nearest to a vector among the allowed slots, nearest first.
    pub(crate) fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        is_allowed: impl Fn(u32) -> bool,
    ) -> Vec<VectorHit> {
        if vector.len() != self.dimensions {
            return Vec::new();
        }
        let query = QuantizedQuery::of(vector);
        let alive = self.owners.iter().enumerate().filter_map(|(row, owner)| owner.map(|owner| (row, owner)));
        let rows: Vec<u32> = alive
            .filter(|(_, owner)| is_allowed(owner.slot))
            .filter_map(|(row, _)| u32::try_from(row).ok())
            .collect();
        let rows = if rows.len() <= MAX_EXACT_ROWS {
            rows
        } else {
            let count = MIN_RESCORED_ROWS.max(rows.len() / RESCORED_FRACTION);
            kernel::nearest(self.level, &query, &self.codes, self.words_per_row, &rows, count)
        };
        let mut found = self.cosines(&query, &rows);
        let best_first = |a: &VectorHit, b: &VectorHit| b.cosine.total_cmp(&a.cosine);
        if found.len() > limit && limit > 0 {
            found.select_nth_unstable_by(limit - 1, best_first);
        }
        found.truncate(limit);
        found.sort_unstable_by(best_first);
        found
    }

    /// Scores every row of these slots.
    pub(crate) fn score_slots(&self, vector: &[f32], slots: &[u32]) -> Vec<VectorHit> {
        if vector.len() != self.dimensions || slots.is_empty() {
            return Vec::new();
        }
        let rows: Vec<u32> = self.rows_of(slots).map(|(row, _)| row).collect();
        self.cosines(&QuantizedQuery::of(vector), &rows)
    }

    /// Centroid of the rows of each of these slots, normalized.
    pub(crate) fn centroids(&self, slots: &[u32]) -> HashMap<u32, Vec<f32>> {
        let mut centroids: HashMap<u32, Vec<f32>> = HashMap::with_capacity(slots.len());
        for (row, slot) in self.rows_of(slots) {
            let row = row as usize;
            let bytes =
                self.bytes.get(row * self.dimensions..(row + 1) * self.dimensions).unwrap_or_default();
            let scale = self.scales.get(row).copied().unwrap_or_default();
            let sum = centroids.entry(slot).or_insert_with(|| vec![0.0; self.dimensions]);
            sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += f32::from(*byte) * scale);
        }
        for centroid in centroids.values_mut() {
            let length = centroid.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::EPSILON);
            centroid.iter_mut().for_each(|value| *value /= length);
        }
        centroids
    }

    /// The rows of these slots, each with its slot.
    fn rows_of(&self, slots: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
        let last = slots.iter().max().map_or(0, |last| *last as usize + 1);
        let mut wanted = vec![false; last];
        for slot in slots {
            if let Some(mark) = wanted.get_mut(*slot as usize) {
                *mark = true;
            }
        }
        let owned = (0..).zip(&self.owners).filter_map(|(row, owner)| Some((row, (*owner)?.slot)));
        owned.filter(move |(_, slot)| wanted.get(*slot as usize).copied().unwrap_or_default())
    }

    fn cosines(&self, query: &QuantizedQuery, rows: &[u32]) -> Vec<VectorHit> {
        let dots = kernel::dots(self.level, query, &self.bytes, self.dimensions, rows);
        let near = rows.iter().zip(dots).filter_map(|(row, dot)| {
            let row = *row as usize;
            let owner = (*self.owners.get(row)?)?;
            Some(VectorHit { owner, cosine: dot * self.scales.get(row)? })
        });
        near.collect()
    }

    /// Drops removed rows.
    fn compact(&mut self) {
        let stored: Vec<usize> =
            self.owners.iter().enumerate().filter(|(_, owner)| owner.is_some()).map(|(row, _)| row).collect();
        self.codes = pick(&self.codes, self.words_per_row, &stored);
        self.bytes = pick(&self.bytes, self.dimensions, &stored);
        self.scales = pick(&self.scales, 1, &stored);
        self.owners = pick(&self.owners, 1, &stored);
        self.removed = 0;
    }
}

/// Copies rows of the given width.
fn pick<T: Copy>(from: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    let chosen = rows.iter().filter_map(|row| from.get(row * width..(row + 1) * width));
    chosen.flatten().copied().collect()
}

#[cfg(test)]
mod tests;
