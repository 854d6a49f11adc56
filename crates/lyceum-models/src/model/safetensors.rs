//! Reads tensors from a `.safetensors` file: a JSON header with offsets, then the data.
//!
//! Only one tensor is in memory at a time. The header is untrusted and validated against the file size.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::ModelError;

/// Maximum size of the header; real ones have tens of kilobytes.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// An open file.
#[derive(Debug)]
pub(super) struct Tensors {
    file: File,
    name: String,
    /// Offset of the data.
    start: u64,
    index: BTreeMap<String, Entry>,
}

/// A float tensor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

impl Tensors {
    /// Opens a file and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let name = ModelError::name_of(path);
        let unreadable = |source| ModelError::Unreadable { file: name.clone(), source };
        let malformed = |why: &str| ModelError::malformed(&name, why);
        let mut file = File::open(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| malformed("it is too short"))?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER_BYTES || length + 8 > size {
            return Err(malformed("its header is longer than the file"));
        }
        let mut header = Vec::new();
        (&mut file).take(length).read_to_end(&mut header).map_err(unreadable)?;
        let header: Map<String, Value> =
            serde_json::from_slice(&header).map_err(|_| malformed("its header is not JSON"))?;
        let start = length + 8;
        let mut index = BTreeMap::new();
        for (tensor, entry) in header {
            if tensor == "__metadata__" {
                continue;
            }
            let entry: Entry = serde_json::from_value(entry)
                .map_err(|_| malformed(&format!("the header entry of `{tensor}` is invalid")))?;
            let [from, to] = entry.data_offsets;
            if from > to || to > size - start {
                return Err(malformed(&format!("`{tensor}` is outside of the file; is it truncated?")));
            }
            index.insert(tensor, entry);
        }
        Ok(Self { file, name, start, index })
    }

    /// Whether the file has a tensor.
    pub(super) fn has(&self, tensor: &str) -> bool {
        self.index.contains_key(tensor)
    }

    /// Reads a float32 tensor and checks its shape; a dimension of 0 accepts any size.
    pub(super) fn floats(&mut self, tensor: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let malformed = |why: String| ModelError::malformed(&self.name, why);
        let Some(entry) = self.index.get(tensor) else {
            return Err(malformed(format!("it has no tensor `{tensor}`")));
        };
        if entry.dtype != "F32" {
            return Err(malformed(format!("`{tensor}` has type {}, only F32 is supported", entry.dtype)));
        }
        let fits = entry.shape.len() == shape.len()
            && entry.shape.iter().zip(shape).all(|(is, wanted)| *wanted == 0 || is == wanted);
        if !fits {
            return Err(malformed(format!("`{tensor}` has shape {:?}, expected {shape:?}", entry.shape)));
        }
        let [from, to] = entry.data_offsets;
        let count = entry.shape.iter().try_fold(1_usize, |all, dim| all.checked_mul(*dim));
        if count.and_then(|count| count.checked_mul(4)).map(|bytes| bytes as u64) != Some(to - from) {
            return Err(malformed(format!("the size of `{tensor}` does not match its shape")));
        }
        let unreadable = |source| ModelError::Unreadable { file: self.name.clone(), source };
        self.file.seek(SeekFrom::Start(self.start + from)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&self.file).take(to - from).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 != to - from {
            return Err(malformed(format!("`{tensor}` is truncated")));
        }
        let (words, _) = bytes.as_chunks::<4>();
        let data = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        Ok(Tensor { shape: entry.shape.clone(), data })
    }
}

#[cfg(test)]
mod tests;
