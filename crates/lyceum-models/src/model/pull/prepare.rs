//! Files as a hub carries them → a model folder that is ready to run, with its card.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{PullError, PullOptions, pinned};
use crate::model::{
    Folder, ModelError, Variant,
    card::{CARD, Card},
    convert::{Task, convert},
    digest,
    folder::{Hashes, Traits},
    read_json,
};

/// The small files that say something of a model.
const METADATA_FILES: &[&str] = &[
    "config.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

/// Makes a model in `to` out of the files in `from`. Gives the hash of the weights where we have none to compare.
pub(super) async fn prepare(
    options: &PullOptions,
    from: &Path,
    to: &Path,
) -> Result<(PathBuf, Option<String>), PullError> {
    let (options, from, to) = (options.clone(), from.to_owned(), to.to_owned());
    let made = tokio::task::spawn_blocking(move || {
        let sha256 = make(&options, &from, &to).inspect_err(|_| drop(fs::remove_dir_all(&to)))?;
        Ok((to, sha256))
    });
    made.await.map_err(io::Error::other)?
}

fn make(options: &PullOptions, from: &Path, to: &Path) -> Result<Option<String>, PullError> {
    if !from.is_dir() {
        return Err(ModelError::Missing("such folder").into());
    }
    if options.is_default() && from.join(pinned::WEIGHTS.file).is_file() {
        make_default(options, from, to)?;
        return Ok(None);
    }
    if from.join(CARD).is_file() {
        return copy_prepared(options, from, to).map(|()| None);
    }
    make_any(options, from, to).map(Some)
}

/// What another pull has made, on this machine or another, is taken with what was written down then.
fn copy_prepared(options: &PullOptions, from: &Path, to: &Path) -> Result<(), PullError> {
    let folder = Folder::open(from)?;
    fs::copy(folder.model(), to.join("model.onnx"))?;
    fs::copy(from.join("tokenizer.json"), to.join("tokenizer.json"))?;
    // Whoever names a folder says which model it holds.
    let (repo, revision) = (Some(options.repo.clone()), Some(options.revision.clone()));
    Card { repo, revision, ..read_json(&from.join(CARD))? }.write(to)?;
    copy_beside(folder.model(), from, to)
}

fn make_default(options: &PullOptions, from: &Path, to: &Path) -> Result<(), PullError> {
    for pin in pinned::FILES {
        let found = hash(&from.join(pin.file))?;
        if found != pin.sha256 {
            return Err(PullError::WrongHash { file: pin.file.to_owned(), found });
        }
    }
    let (weights, config) = (from.join(pinned::WEIGHTS.file), from.join("config.json"));
    convert(&weights, &config, options.variant, Task::Tokens, &to.join("model.onnx"))?;
    fs::copy(from.join("tokenizer.json"), to.join("tokenizer.json"))?;
    fs::copy(&config, to.join("config.json"))?;
    let traits = Traits { max_tokens: pinned::MAX_TOKENS, ..Traits::read(to, options.name())? };
    write_card(options, to, traits, options.variant, pinned::WEIGHTS.sha256.to_owned())
}

/// A model that comes as ONNX is taken as it is.
fn make_any(options: &PullOptions, from: &Path, to: &Path) -> Result<String, PullError> {
    let onnx = ["model.onnx", "onnx/model.onnx"].map(|name| from.join(name));
    let onnx = onnx.iter().find(|path| path.is_file()).ok_or(ModelError::Missing("model.onnx there"))?;
    if !from.join("tokenizer.json").is_file() {
        return Err(ModelError::Missing("tokenizer.json there").into());
    }
    fs::copy(onnx, to.join("model.onnx"))?;
    fs::copy(from.join("tokenizer.json"), to.join("tokenizer.json"))?;
    copy_beside(onnx, from, to)?;
    let source = hash(&to.join("model.onnx"))?;
    let traits = Traits::read(to, options.name())?;
    if traits.dimensions.is_some() {
        write_card(options, to, traits, Variant::Fp32, source.clone())?;
    }
    Ok(source)
}

/// Copies the files that some models have and others don't.
fn copy_beside(onnx: &Path, from: &Path, to: &Path) -> Result<(), PullError> {
    let data = onnx.with_file_name("model.onnx_data");
    if data.is_file() {
        fs::copy(data, to.join("model.onnx_data"))?;
    }
    for name in METADATA_FILES.iter().filter(|name| from.join(name).is_file()) {
        let target = to.join(name);
        target.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(from.join(name), target)?;
    }
    Ok(())
}

fn write_card(
    options: &PullOptions,
    to: &Path,
    traits: Traits,
    variant: Variant,
    source_sha256: String,
) -> Result<(), PullError> {
    let hashes = Hashes::of(&to.join("model.onnx"), &to.join("tokenizer.json"))?;
    let card = Card {
        sha256: hashes.model,
        files_sha256: Some(hashes.all),
        repo: Some(options.repo.clone()),
        revision: Some(options.revision.clone()),
        dimensions: traits.dimensions.unwrap_or_default(),
        name: traits.name,
        source_sha256,
        variant,
        pooling: traits.pooling,
        max_tokens: traits.max_tokens,
        query_prefix: traits.query_prefix,
        passage_prefix: traits.passage_prefix,
    };
    Ok(card.write(to)?)
}

fn hash(path: &Path) -> Result<String, ModelError> {
    digest::of_file(path).map_err(|source| ModelError::Unreadable { file: ModelError::name_of(path), source })
}
