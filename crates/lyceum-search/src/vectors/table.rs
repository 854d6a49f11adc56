//! A fixed set of vectors, all of them scored for every query.

use fearless_simd::Level;

use super::{decode, encode, kernel};
use kernel::QuantizedQuery;

/// Length of the scale before the quantized values, in bytes.
const SCALE_BYTES: usize = 4;

/// Vectors of one model, quantized to int8, one after the other in memory.
#[derive(Debug)]
pub struct VectorTable {
    dimensions: usize,
    rows: Vec<u32>,
    bytes: Vec<i8>,
    scales: Vec<f32>,
    level: Level,
}

impl VectorTable {
    /// Quantizes a vector of unit length, for [`Self::new`].
    pub fn quantize(vector: &[f32]) -> Vec<u8> {
        encode(vector)
    }

    /// Length of a quantized vector, in bytes.
    pub fn quantized_bytes(dimensions: usize) -> usize {
        SCALE_BYTES + dimensions
    }

    /// Puts quantized vectors in a table. One that is corrupt or has other dimensions than the first scores 0.
    pub fn new<'a>(vectors: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut table = Self {
            dimensions: 0,
            rows: Vec::new(),
            bytes: Vec::new(),
            scales: Vec::new(),
            level: Level::new(),
        };
        for (row, stored) in (0..).zip(vectors) {
            if row == 0 {
                table.dimensions = stored.len().saturating_sub(SCALE_BYTES);
            }
            match decode(stored).filter(|(_, bytes)| bytes.len() == table.dimensions) {
                Some((scale, bytes)) => {
                    table.bytes.extend(bytes);
                    table.scales.push(scale);
                }
                None => {
                    table.bytes.extend(std::iter::repeat_n(0, table.dimensions));
                    table.scales.push(0.0);
                }
            }
            table.rows.push(row);
        }
        table
    }

    /// The cosine of each vector to a query, in order; 0 for a query with other dimensions.
    pub fn cosines(&self, query: &[f32]) -> Vec<f32> {
        if query.len() != self.dimensions {
            return vec![0.0; self.rows.len()];
        }
        let query = QuantizedQuery::of(query);
        let mut cosines = kernel::dots(self.level, &query, &self.bytes, self.dimensions, &self.rows);
        cosines.iter_mut().zip(&self.scales).for_each(|(cosine, scale)| *cosine *= scale);
        cosines
    }
}
