//! A model folder in the Hugging Face layout: its files and its metadata.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    ModelError,
    architecture::Architecture,
    card::{CARD, Card},
    digest, family, read_json,
};
use crate::embedder::{Identity, Pooling};

/// Upper limit of the context length, whatever the metadata says.
const MAX_CONTEXT_TOKENS: usize = 512;

/// A local model: paths, hashes and metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
    model: PathBuf,
    tokenizer: PathBuf,
    hashes: Hashes,
    metadata: Metadata,
}

/// Hashes that identify the files of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hashes {
    /// Hash of the ONNX file.
    pub(super) model: String,
    /// Combined hash of all files that vectors depend on.
    pub(super) all: String,
}

impl Hashes {
    /// Hashes the ONNX file, its external data and the tokenizer.
    pub(super) fn of(model: &Path, tokenizer: &Path) -> Result<Self, ModelError> {
        let mut all = Vec::new();
        for path in
            [&[model.to_owned()], external_data_files(model)?.as_slice(), &[tokenizer.to_owned()]].concat()
        {
            let file = ModelError::name_of(&path);
            let hash = digest::of_file(&path);
            let hash = hash.map_err(|source| ModelError::Unreadable { file: file.clone(), source })?;
            all.push((file, hash));
        }
        let whole = digest::of_all(all.iter().map(|(file, hash)| (file.as_str(), hash.as_str())));
        let model = all.into_iter().next().map(|(_, hash)| hash).unwrap_or_default();
        Ok(Self { model, all: whole })
    }

    /// The file whose hash differs from the card, if any.
    fn corrupt_file(&self, card: &Card) -> Option<&'static str> {
        if card.sha256 != self.model {
            return Some("model.onnx");
        }
        let is_same = card.files_sha256.as_ref().is_none_or(|all| *all == self.all);
        (!is_same).then_some("tokenizer.json or model.onnx_data")
    }
}

/// Metadata of a model, known before it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) pooling: Pooling,
    /// `None` without a `config.json`.
    pub(super) dimensions: Option<usize>,
    pub(super) max_tokens: usize,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
}

impl Folder {
    /// Finds the files of a model and verifies their hashes if a pull prepared them. Reads the whole model.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        if !path.is_dir() {
            return Err(ModelError::Missing("model folder"));
        }
        let model = first_file(path, &["model.onnx", "onnx/model.onnx"])
            .ok_or(ModelError::Missing("model.onnx in the model folder"))?;
        let tokenizer = first_file(path, &["tokenizer.json"])
            .ok_or(ModelError::Missing("tokenizer.json in the model folder"))?;
        let hashes = Hashes::of(&model, &tokenizer)?;
        let metadata = if path.join(CARD).is_file() {
            let card: Card = read_json(&path.join(CARD))?;
            if let Some(file) = hashes.corrupt_file(&card) {
                return Err(ModelError::Damaged { file: file.to_owned() });
            }
            card.into()
        } else {
            Metadata::read(path, &folder_name(path))?
        };
        Ok(Self { path: path.to_owned(), model, tokenizer, hashes, metadata })
    }

    /// Overrides the prefixes of queries and passages.
    #[must_use]
    pub fn with_prefixes(mut self, query: Option<String>, passage: Option<String>) -> Self {
        let Metadata { query_prefix, passage_prefix, .. } = &mut self.metadata;
        *query_prefix = query.unwrap_or_else(|| std::mem::take(query_prefix));
        *passage_prefix = passage.unwrap_or_else(|| std::mem::take(passage_prefix));
        self
    }

    /// Overrides the pooling, and lowers the context length.
    #[must_use]
    pub fn with_reading(mut self, pooling: Option<Pooling>, max_tokens: Option<usize>) -> Self {
        let Metadata { pooling: default_pooling, max_tokens: limit, .. } = &mut self.metadata;
        *default_pooling = pooling.unwrap_or(*default_pooling);
        *limit = max_tokens.unwrap_or(*limit).min(*limit);
        self
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model's name, such as `all-MiniLM-L6-v2`.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Hash of the ONNX file.
    pub fn sha256(&self) -> &str {
        &self.hashes.model
    }

    /// Combined hash of all files that vectors depend on.
    pub fn digest(&self) -> &str {
        &self.hashes.all
    }

    pub(super) fn model(&self) -> &Path {
        &self.model
    }

    pub(super) fn tokenizer(&self) -> &Path {
        &self.tokenizer
    }

    /// Context length in tokens.
    pub fn max_tokens(&self) -> usize {
        self.metadata.max_tokens
    }

    /// Identity of the model; fails if the dimensions differ from the metadata.
    pub(crate) fn identity(&self, dimensions: usize) -> Result<Identity, ModelError> {
        let metadata = self.metadata.clone();
        if let Some(expected) = metadata.dimensions
            && expected != dimensions
        {
            return Err(ModelError::WrongDimensions { expected, got: dimensions });
        }
        Ok(Identity {
            kind: "local".to_owned(),
            name: metadata.name,
            sha256: Some(self.hashes.all.clone()),
            pooling: metadata.pooling,
            query_prefix: metadata.query_prefix,
            passage_prefix: metadata.passage_prefix,
            dimensions,
            max_tokens: metadata.max_tokens,
        })
    }
}

impl Metadata {
    /// Reads the metadata from the model's files, with the family's defaults for what they omit.
    pub(super) fn read(folder: &Path, name: &str) -> Result<Self, ModelError> {
        let defaults = family::defaults_for(name);
        let architecture: Option<Architecture> = optional(&folder.join("config.json"))?;
        let sentence: Option<SentenceConfig> = optional(&folder.join("sentence_bert_config.json"))?;
        let prompts: Option<Prompts> = optional(&folder.join("config_sentence_transformers.json"))?;
        let pooling: Option<PoolingModes> = optional(&folder.join("1_Pooling/config.json"))?;
        let prompts = prompts.unwrap_or_default().prompts;
        let prompt = |names: [&str; 2], default: &str| {
            names.iter().find_map(|name| prompts.get(*name)).cloned().unwrap_or_else(|| default.to_owned())
        };
        let positions = architecture.as_ref().map(Architecture::positions).filter(|count| *count > 0);
        let max_tokens =
            sentence.and_then(|config| config.max_seq_length).or(positions).unwrap_or(MAX_CONTEXT_TOKENS);
        Ok(Self {
            name: name.to_owned(),
            pooling: pooling.map_or(Ok(defaults.pooling), PoolingModes::pooling)?,
            dimensions: architecture.map(|config| config.hidden_size).filter(|size| *size > 0),
            max_tokens: max_tokens.min(positions.unwrap_or(MAX_CONTEXT_TOKENS)).clamp(8, MAX_CONTEXT_TOKENS),
            query_prefix: prompt(["query", "s2p_query"], defaults.query_prefix),
            passage_prefix: prompt(["passage", "document"], defaults.passage_prefix),
        })
    }
}

impl From<Card> for Metadata {
    fn from(card: Card) -> Self {
        Self {
            name: card.name,
            pooling: card.pooling,
            dimensions: Some(card.dimensions),
            max_tokens: card.max_tokens.clamp(8, MAX_CONTEXT_TOKENS),
            query_prefix: card.query_prefix,
            passage_prefix: card.passage_prefix,
        }
    }
}

#[derive(Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

#[derive(Default, Deserialize)]
struct Prompts {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct PoolingModes {
    #[serde(default, rename = "pooling_mode_cls_token")]
    cls: bool,
    #[serde(default, rename = "pooling_mode_mean_tokens")]
    mean: bool,
}

impl PoolingModes {
    fn pooling(self) -> Result<Pooling, ModelError> {
        match self {
            Self { cls: true, mean: false } => Ok(Pooling::Cls),
            Self { cls: false, mean: true } => Ok(Pooling::Mean),
            _ => Err(ModelError::Unsupported("pooling other than mean or CLS".to_owned())),
        }
    }
}

/// Name of a folder, even if the path is `.`.
fn folder_name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    ModelError::name_of(&whole)
}

/// External data files of an ONNX model, such as `model.onnx_data`.
fn external_data_files(model: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let name = ModelError::name_of(model);
    let folder = model.parent().unwrap_or(Path::new("."));
    let unreadable = |source| ModelError::Unreadable { file: name.clone(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let other = ModelError::name_of(&path);
        if other != name && other.starts_with(&name) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn first_file(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn optional<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    if path.is_file() { read_json(path).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests;
