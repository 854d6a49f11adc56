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
const MOST_TOKENS: usize = 512;

/// A model on this disk, with its files found and its hash known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
    model: PathBuf,
    tokenizer: PathBuf,
    /// The hash of the file that is run.
    sha256: String,
    traits: Traits,
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
        let sha256 = digest::of_file(&model)
            .map_err(|source| ModelError::Unreadable { file: ModelError::name_of(&model), source })?;
        let traits = if path.join(CARD).is_file() {
            let card: Card = read_json(&path.join(CARD))?;
            if card.sha256 != sha256 {
                return Err(ModelError::Damaged { file: ModelError::name_of(&model) });
            }
            card.into()
        } else {
            Traits::read(path, &folder_name(path))?
        };
        Ok(Self { path: path.to_owned(), model, tokenizer, sha256, traits })
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
        let Traits { pooling: said, max_tokens: most, .. } = &mut self.traits;
        *said = pooling.unwrap_or(*said);
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
        &self.sha256
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
            sha256: Some(self.sha256.clone()),
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
        let max_tokens = sentence.and_then(|one| one.max_seq_length).or(positions).unwrap_or(MOST_TOKENS);
        Ok(Self {
            name: name.to_owned(),
            pooling: pooling.map_or(Ok(habits.pooling), PoolingModes::pooling)?,
            dimensions: architecture.map(|one| one.hidden_size).filter(|size| *size > 0),
            max_tokens: max_tokens.min(positions.unwrap_or(MOST_TOKENS)).clamp(8, MOST_TOKENS),
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
            max_tokens: card.max_tokens.clamp(8, MOST_TOKENS),
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

fn first_file(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn optional<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    if path.is_file() { read_json(path).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests;
