//! Vectors in memory, scanned (ADR 11): the signs of each first, then the best of them by their bytes.
//!
//! What is kept on disk is in the database; this is made of it at the start and follows it.

mod bytes;
mod kernel;

use std::collections::HashMap;

use fearless_simd::Level;

pub(crate) use bytes::{decode, encode};
use kernel::Question;

/// Up to so many rows are compared by their bytes, all of them: that is exact, and as fast.
const MAX_EXACT_ROWS: usize = 10_000;

/// How many rows are compared by their bytes after those nearest by their signs were found: at least so many, and where there
/// are very many one of so many.
const MIN_RESCORED_ROWS: usize = 1_000;
const RESCORED_FRACTION: usize = 200;

/// Rows that are gone are only taken out when there are so many, and a quarter of all.
const MIN_SWEPT_ROWS: usize = 1_000;

/// Whom a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub slot: u32,
    pub chunk: i64,
}

/// A row that was found: how near it is, as a cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VectorHit {
    pub owner: Owner,
    pub cosine: f32,
}

/// The vectors of one model.
#[derive(Debug)]
pub(crate) struct Flat {
    dimensions: usize,
    words: usize,
    codes: Vec<u64>,
    bytes: Vec<i8>,
    scales: Vec<f32>,
    owners: Vec<Option<Owner>>,
    gone: usize,
    level: Level,
}

impl Flat {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            words: dimensions.div_ceil(64),
            codes: Vec::new(),
            bytes: Vec::new(),
            scales: Vec::new(),
            owners: Vec::new(),
            gone: 0,
            level: Level::new(),
        }
    }

    /// How many rows there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.owners.iter().flatten().count()
    }

    /// Puts a vector in, as it is kept. One of another length is not taken.
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

    /// Takes every row of these slots out.
    pub(crate) fn remove(&mut self, slots: &std::collections::HashSet<u32>) {
        if slots.is_empty() {
            return;
        }
        for owner in &mut self.owners {
            if owner.is_some_and(|owner| slots.contains(&owner.slot)) {
                *owner = None;
                self.gone += 1;
            }
        }
        if self.gone > MIN_SWEPT_ROWS && self.gone * 4 > self.owners.len() {
            self.sweep();
        }
    }

    /// The rows nearest to a vector, the nearest first, those only whose slot may be found.
    pub(crate) fn nearest(&self, vector: &[f32], most: usize, may: impl Fn(u32) -> bool) -> Vec<VectorHit> {
        if vector.len() != self.dimensions {
            return Vec::new();
        }
        let question = Question::of(vector);
        let alive = self.owners.iter().enumerate().filter_map(|(row, owner)| owner.map(|owner| (row, owner)));
        let rows: Vec<u32> = alive
            .filter(|(_, owner)| may(owner.slot))
            .filter_map(|(row, _)| u32::try_from(row).ok())
            .collect();
        let rows = if rows.len() <= MAX_EXACT_ROWS {
            rows
        } else {
            let room = MIN_RESCORED_ROWS.max(rows.len() / RESCORED_FRACTION);
            kernel::nearest(self.level, &question, &self.codes, self.words, &rows, room)
        };
        let mut found = self.cosines(&question, &rows);
        let best_first = |a: &VectorHit, b: &VectorHit| b.cosine.total_cmp(&a.cosine);
        if found.len() > most && most > 0 {
            found.select_nth_unstable_by(most - 1, best_first);
        }
        found.truncate(most);
        found.sort_unstable_by(best_first);
        found
    }

    /// How near every row of these slots is.
    pub(crate) fn of_slots(&self, vector: &[f32], slots: &[u32]) -> Vec<VectorHit> {
        if vector.len() != self.dimensions || slots.is_empty() {
            return Vec::new();
        }
        let rows: Vec<u32> = self.rows_of(slots).map(|(row, _)| row).collect();
        self.cosines(&Question::of(vector), &rows)
    }

    /// The middle of the rows of each of these slots, of length one.
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

    fn cosines(&self, question: &Question, rows: &[u32]) -> Vec<VectorHit> {
        let dots = kernel::dots(self.level, question, &self.bytes, self.dimensions, rows);
        let near = rows.iter().zip(dots).filter_map(|(row, dot)| {
            let row = *row as usize;
            let owner = (*self.owners.get(row)?)?;
            Some(VectorHit { owner, cosine: dot * self.scales.get(row)? })
        });
        near.collect()
    }

    /// Takes the rows that are gone out for good.
    fn sweep(&mut self) {
        let stored: Vec<usize> =
            self.owners.iter().enumerate().filter(|(_, owner)| owner.is_some()).map(|(row, _)| row).collect();
        self.codes = pick(&self.codes, self.words, &stored);
        self.bytes = pick(&self.bytes, self.dimensions, &stored);
        self.scales = pick(&self.scales, 1, &stored);
        self.owners = pick(&self.owners, 1, &stored);
        self.gone = 0;
    }
}

/// The rows of that width.
fn pick<T: Copy>(from: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    let chosen = rows.iter().filter_map(|row| from.get(row * width..(row + 1) * width));
    chosen.flatten().copied().collect()
}

#[cfg(test)]
mod tests;
