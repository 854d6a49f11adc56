//! A folder with a model in it, in the layout that model hubs carry: which files, and what they say of the model.

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

/// No text is cut later than this, whatever a model's description says.
const MAX_CONTEXT_TOKENS: usize = 512;

/// A model on this disk, with its files found and its hash known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
    model: PathBuf,
    tokenizer: PathBuf,
    hashes: Hashes,
    traits: Traits,
}

/// What tells the files of a model from those of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hashes {
    /// The hash of the file that is run.
    pub(super) model: String,
    /// That of all files that vectors depend on.
    pub(super) all: String,
}

impl Hashes {
    /// Reads the file that is run, the weights that lie beside it, and the tokenizer.
    pub(super) fn of(model: &Path, tokenizer: &Path) -> Result<Self, ModelError> {
        let mut all = Vec::new();
        for path in [&[model.to_owned()], beside(model)?.as_slice(), &[tokenizer.to_owned()]].concat() {
            let file = ModelError::name_of(&path);
            let hash = digest::of_file(&path);
            let hash = hash.map_err(|source| ModelError::Unreadable { file: file.clone(), source })?;
            all.push((file, hash));
        }
        let whole = digest::of_all(all.iter().map(|(file, hash)| (file.as_str(), hash.as_str())));
        let model = all.into_iter().next().map(|(_, hash)| hash).unwrap_or_default();
        Ok(Self { model, all: whole })
    }

    /// Which file is not what a pull prepared.
    fn damaged(&self, card: &Card) -> Option<&'static str> {
        if card.sha256 != self.model {
            return Some("model.onnx");
        }
        let is_same = card.files_sha256.as_ref().is_none_or(|all| *all == self.all);
        (!is_same).then_some("tokenizer.json or model.onnx_data")
    }
}

/// What is known of a model before it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) name: String,
    pub(super) pooling: Pooling,
    /// Not known where there is no description.
    pub(super) dimensions: Option<usize>,
    pub(super) max_tokens: usize,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
}

impl Folder {
    /// Finds the files of a model and checks those that a pull prepared against their hash. Reads the whole model.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        if !path.is_dir() {
            return Err(ModelError::Missing("model folder"));
        }
        let model = first_file(path, &["model.onnx", "onnx/model.onnx"])
            .ok_or(ModelError::Missing("model.onnx in the model folder"))?;
        let tokenizer = first_file(path, &["tokenizer.json"])
            .ok_or(ModelError::Missing("tokenizer.json in the model folder"))?;
        let hashes = Hashes::of(&model, &tokenizer)?;
        let traits = if path.join(CARD).is_file() {
            let card: Card = read_json(&path.join(CARD))?;
            if let Some(file) = hashes.damaged(&card) {
                return Err(ModelError::Damaged { file: file.to_owned() });
            }
            card.into()
        } else {
            Traits::read(path, &folder_name(path))?
        };
        Ok(Self { path: path.to_owned(), model, tokenizer, hashes, traits })
    }

    /// With other texts before questions and passages than the model's family has.
    #[must_use]
    pub fn with_prefixes(mut self, query: Option<String>, passage: Option<String>) -> Self {
        let Traits { query_prefix, passage_prefix, .. } = &mut self.traits;
        *query_prefix = query.unwrap_or_else(|| std::mem::take(query_prefix));
        *passage_prefix = passage.unwrap_or_else(|| std::mem::take(passage_prefix));
        self
    }

    /// With another way to read texts than its files say.
    #[must_use]
    pub fn with_reading(mut self, pooling: Option<Pooling>, max_tokens: Option<usize>) -> Self {
        let Traits { pooling: declared, max_tokens: most, .. } = &mut self.traits;
        *declared = pooling.unwrap_or(*declared);
        *most = max_tokens.unwrap_or(*most).min(*most);
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model's name, such as `all-MiniLM-L6-v2`.
    pub fn name(&self) -> &str {
        &self.traits.name
    }

    /// The hash of the file that is run.
    pub fn sha256(&self) -> &str {
        &self.hashes.model
    }

    /// The hash of all files that vectors depend on.
    pub fn digest(&self) -> &str {
        &self.hashes.all
    }

    pub(super) fn model(&self) -> &Path {
        &self.model
    }

    pub(super) fn tokenizer(&self) -> &Path {
        &self.tokenizer
    }

    /// How many tokens of a text the model sees.
    pub fn max_tokens(&self) -> usize {
        self.traits.max_tokens
    }

    /// Which model this is, once its dimensions are known.
    pub(crate) fn identity(&self, dimensions: usize) -> Result<Identity, ModelError> {
        let traits = self.traits.clone();
        if let Some(expected) = traits.dimensions
            && expected != dimensions
        {
            return Err(ModelError::WrongDimensions { expected, got: dimensions });
        }
        Ok(Identity {
            kind: "local".to_owned(),
            name: traits.name,
            sha256: Some(self.hashes.all.clone()),
            pooling: traits.pooling,
            query_prefix: traits.query_prefix,
            passage_prefix: traits.passage_prefix,
            dimensions,
            max_tokens: traits.max_tokens,
        })
    }
}

impl Traits {
    /// What the files of a hub say of a model of this name, and its family where they are silent.
    pub(super) fn read(folder: &Path, name: &str) -> Result<Self, ModelError> {
        let habits = family::habits(name);
        let architecture: Option<Architecture> = optional(&folder.join("config.json"))?;
        let sentence: Option<Sentence> = optional(&folder.join("sentence_bert_config.json"))?;
        let prompts: Option<Prompts> = optional(&folder.join("config_sentence_transformers.json"))?;
        let pooling: Option<PoolingModes> = optional(&folder.join("1_Pooling/config.json"))?;
        let prompts = prompts.unwrap_or_default().prompts;
        let prompt = |names: [&str; 2], otherwise: &str| {
            names.iter().find_map(|name| prompts.get(*name)).cloned().unwrap_or_else(|| otherwise.to_owned())
        };
        let positions = architecture.as_ref().map(Architecture::positions).filter(|count| *count > 0);
        let max_tokens =
            sentence.and_then(|one| one.max_seq_length).or(positions).unwrap_or(MAX_CONTEXT_TOKENS);
        Ok(Self {
            name: name.to_owned(),
            pooling: pooling.map_or(Ok(habits.pooling), PoolingModes::pooling)?,
            dimensions: architecture.map(|one| one.hidden_size).filter(|size| *size > 0),
            max_tokens: max_tokens.min(positions.unwrap_or(MAX_CONTEXT_TOKENS)).clamp(8, MAX_CONTEXT_TOKENS),
            query_prefix: prompt(["query", "s2p_query"], habits.query_prefix),
            passage_prefix: prompt(["passage", "document"], habits.passage_prefix),
        })
    }
}

impl From<Card> for Traits {
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
struct Sentence {
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
            _ => Err(ModelError::Unsupported("a pooling other than the mean or the first token".to_owned())),
        }
    }
}

/// The name of a folder, also of one that is named `.`.
fn folder_name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    ModelError::name_of(&whole)
}

/// The files that a graph keeps its weights in, where they are too large for it: `model.onnx_data` and the like.
fn beside(model: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let name = ModelError::name_of(model);
    let folder = model.parent().unwrap_or(Path::new("."));
    let unreadable = |source| ModelError::Unreadable { file: name.clone(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let other = ModelError::name_of(&path);
        if other != name && other.starts_with(&name) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn first_file(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn optional<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    if path.is_file() { read_json(path).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests;
