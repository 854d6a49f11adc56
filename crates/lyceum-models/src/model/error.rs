//! Errors of model files.

use std::{io, path::Path};

/// Why a model folder can't be used. The messages are for operators.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The folder or a file is missing.
    #[error("there is no {0}; run `lyceum model pull`, or name a folder with model.onnx and tokenizer.json")]
    Missing(&'static str),
    /// I/O error of a file.
    #[error("{file} can't be read or written: {source}")]
    Unreadable {
        /// File name, without the folder.
        file: String,
        /// The I/O error.
        source: io::Error,
    },
    /// A prepared file was changed.
    #[error("{file} is corrupt: its hash differs from the prepared file; run `lyceum model pull`")]
    Damaged {
        /// File name, without the folder.
        file: String,
    },
    /// A file has invalid content.
    #[error("{file} can't be used: {why}; run `lyceum model pull`, or download the file again")]
    Malformed {
        /// File name, without the folder.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The model is of an unsupported kind.
    #[error("{0} is not supported; use a BERT or XLM-R family model with model.onnx and tokenizer.json")]
    Unsupported(String),
    /// The model's dimensions differ from its metadata.
    #[error("the model returns vectors of {got} dimensions, but its metadata says {expected}")]
    WrongDimensions {
        /// Dimensions in the metadata.
        expected: usize,
        /// Dimensions returned.
        got: usize,
    },
}

impl ModelError {
    pub(super) fn malformed(file: &str, why: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), why: why.into() }
    }

    /// File name without folders, for messages.
    pub(super) fn name_of(path: &Path) -> String {
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }
}
