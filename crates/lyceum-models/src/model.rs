//! Local model files: layout, download, conversion and inference.

mod architecture;
mod card;
pub(crate) mod convert;
mod digest;
mod error;
mod family;
mod folder;
mod onnx;
mod protobuf;
mod pull;
#[cfg(test)]
pub(crate) mod real;
pub(crate) mod runtime;
mod safetensors;
pub(crate) mod worker_pool;

use std::path::Path;

use serde::de::DeserializeOwned;

pub use convert::Variant;
pub use error::ModelError;
pub use folder::Folder;
pub use pull::{Fallback, Progress, PullError, PullOptions, pull};

/// Maximum size of a JSON file; real ones have a few kilobytes.
const MAX_JSON_BYTES: u64 = 1 << 20;

/// Reads a small JSON file.
fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let file = ModelError::name_of(path);
    let unreadable = |source| ModelError::Unreadable { file: file.clone(), source };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_JSON_BYTES {
        return Err(ModelError::malformed(&file, "it is too large"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    serde_json::from_slice(&bytes).map_err(|error| ModelError::malformed(&file, error.to_string()))
}
