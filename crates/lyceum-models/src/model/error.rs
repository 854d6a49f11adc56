//! What can be wrong with the files of a model.

use std::{io, path::Path};

/// Why a model folder can't be used. The texts are for whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is no folder, or it lacks a file.
    #[error("there is no {0}; run `lyceum model pull`, or name a folder with model.onnx and tokenizer.json")]
    Missing(&'static str),
    /// A file can't be read or written.
    #[error("{file} can't be read or written: {source}")]
    Unreadable {
        /// Its name, without the folder.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// A file is not what was prepared.
    #[error("{file} is damaged: its hash is not the one it was prepared with; run `lyceum model pull`")]
    Damaged {
        /// Its name, without the folder.
        file: String,
    },
    /// A file is not of the kind that its name says.
    #[error("{file} can't be used: {why}; run `lyceum model pull`, or get the file again")]
    Malformed {
        /// Its name, without the folder.
        file: String,
        /// What is wrong in it.
        why: String,
    },
    /// A model of a kind that can't be run.
    #[error("{0} is not supported; take a BERT or XLM-R family model with model.onnx and tokenizer.json")]
    Unsupported(String),
    /// The model gives other vectors than its description says.
    #[error("the model gives vectors of {got} dimensions where its description says {expected}")]
    WrongDimensions {
        /// What the description says.
        expected: usize,
        /// What came.
        got: usize,
    },
}

impl ModelError {
    pub(super) fn malformed(file: &str, why: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), why: why.into() }
    }

    /// The name of a file, without the folders it is in.
    pub(super) fn name_of(path: &Path) -> String {
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }
}
