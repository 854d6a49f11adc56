//! Prepares a model folder with its card from downloaded files.

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
    folder::{Hashes, Metadata},
    read_json,
};

/// Metadata files.
const METADATA_FILES: &[&str] = &[
    "config.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

/// Prepares a model in `to` from the files in `from`. Returns the hash of the weights if there is no pinned hash.
pub(super) async fn prepare(
    options: &PullOptions,
    from: &Path,
    to: &Path,
) -> Result<(PathBuf, Option<String>), PullError> {
    let (options, from, to) = (options.clone(), from.to_owned(), to.to_owned());
    let prepared = tokio::task::spawn_blocking(move || {
        let sha256 = prepare_here(&options, &from, &to).inspect_err(|_| drop(fs::remove_dir_all(&to)))?;
        Ok((to, sha256))
    });
    prepared.await.map_err(io::Error::other)?
}

fn prepare_here(options: &PullOptions, from: &Path, to: &Path) -> Result<Option<String>, PullError> {
    if !from.is_dir() {
        return Err(ModelError::Missing("such folder").into());
    }
    if options.is_default() && from.join(pinned::WEIGHTS.file).is_file() {
        prepare_default(options, from, to)?;
        return Ok(None);
    }
    if from.join(CARD).is_file() {
        return copy_prepared(options, from, to).map(|()| None);
    }
    prepare_onnx(options, from, to).map(Some)
}

/// Copies a model that another pull has prepared, with its card.
fn copy_prepared(options: &PullOptions, from: &Path, to: &Path) -> Result<(), PullError> {
    let folder = Folder::open(from)?;
    fs::copy(folder.model(), to.join("model.onnx"))?;
    fs::copy(from.join("tokenizer.json"), to.join("tokenizer.json"))?;
    // The options name the model that the folder contains.
    let (repo, revision) = (Some(options.repo.clone()), Some(options.revision.clone()));
    Card { repo, revision, ..read_json(&from.join(CARD))? }.write(to)?;
    copy_optional_files(folder.model(), from, to)
}

fn prepare_default(options: &PullOptions, from: &Path, to: &Path) -> Result<(), PullError> {
    for pin in pinned::FILES {
        let found = hash(&from.join(pin.file))?;
        if found != pin.sha256 {
            return Err(PullError::WrongHash { file: pin.file.to_owned(), found });
        }
    }
    let (weights, config) = (from.join(pinned::WEIGHTS.file), from.join("config.json"));
    convert(&weights, &config, options.variant, Task::TokenVectors, &to.join("model.onnx"))?;
    fs::copy(from.join("tokenizer.json"), to.join("tokenizer.json"))?;
    fs::copy(&config, to.join("config.json"))?;
    let metadata = Metadata { max_tokens: pinned::MAX_TOKENS, ..Metadata::read(to, options.name())? };
    write_card(options, to, metadata, options.variant, pinned::WEIGHTS.sha256.to_owned())
}

/// Copies a model that is published as ONNX.
fn prepare_onnx(options: &PullOptions, from: &Path, to: &Path) -> Result<String, PullError> {
    let onnx = ["model.onnx", "onnx/model.onnx"].map(|name| from.join(name));
    let onnx = onnx.iter().find(|path| path.is_file()).ok_or(ModelError::Missing("model.onnx there"))?;
    if !from.join("tokenizer.json").is_file() {
        return Err(ModelError::Missing("tokenizer.json there").into());
    }
    fs::copy(onnx, to.join("model.onnx"))?;
    fs::copy(from.join("tokenizer.json"), to.join("tokenizer.json"))?;
    copy_optional_files(onnx, from, to)?;
    let source = hash(&to.join("model.onnx"))?;
    let metadata = Metadata::read(to, options.name())?;
    if metadata.dimensions.is_some() {
        write_card(options, to, metadata, Variant::Fp32, source.clone())?;
    }
    Ok(source)
}

/// Copies the optional files.
fn copy_optional_files(onnx: &Path, from: &Path, to: &Path) -> Result<(), PullError> {
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
    metadata: Metadata,
    variant: Variant,
    source_sha256: String,
) -> Result<(), PullError> {
    let hashes = Hashes::of(&to.join("model.onnx"), &to.join("tokenizer.json"))?;
    let card = Card {
        sha256: hashes.model,
        files_sha256: Some(hashes.all),
        repo: Some(options.repo.clone()),
        revision: Some(options.revision.clone()),
        dimensions: metadata.dimensions.unwrap_or_default(),
        name: metadata.name,
        source_sha256,
        variant,
        pooling: metadata.pooling,
        max_tokens: metadata.max_tokens,
        query_prefix: metadata.query_prefix,
        passage_prefix: metadata.passage_prefix,
    };
    Ok(card.write(to)?)
}

fn hash(path: &Path) -> Result<String, ModelError> {
    digest::of_file(path).map_err(|source| ModelError::Unreadable { file: ModelError::name_of(path), source })
}
