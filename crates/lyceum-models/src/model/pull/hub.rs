//! The files of a model from a hub: `{hub}/{repo}/resolve/{revision}/{file}`.

use std::path::{Path, PathBuf};

use reqwest::{Client, Url};

use super::{
    Progress, PullError, PullOptions,
    client::{Timeouts, client},
    download::{DownloadRequest, download},
    pinned,
};

/// The largest model that is taken: a large XLM-R in floats has 2.2 GB.
const MAX_MODEL_BYTES: u64 = 3 << 30;
/// The largest of the other files.
const MAX_SMALL_FILE_BYTES: u64 = 64 << 20;

/// What an ONNX model of a hub consists of; only the first two must be there.
const FILES: &[(&str, u64)] = &[
    ("tokenizer.json", MAX_SMALL_FILE_BYTES),
    ("onnx/model.onnx", MAX_MODEL_BYTES),
    ("config.json", MAX_SMALL_FILE_BYTES),
    ("1_Pooling/config.json", MAX_SMALL_FILE_BYTES),
    ("sentence_bert_config.json", MAX_SMALL_FILE_BYTES),
    ("config_sentence_transformers.json", MAX_SMALL_FILE_BYTES),
    ("onnx/model.onnx_data", MAX_MODEL_BYTES),
];
const REQUIRED_FILES: usize = 2;

/// Brings the files of a model into a folder.
pub(super) async fn fetch(
    options: &PullOptions,
    into: &Path,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<PathBuf, PullError> {
    let hub = Url::parse(&options.hub).map_err(|_| PullError::Address)?;
    if !matches!(hub.scheme(), "http" | "https") {
        return Err(PullError::Address);
    }
    let patience = Timeouts::default();
    let client = {
        let hub = hub.clone();
        let client = tokio::task::spawn_blocking(move || client(&hub, patience)).await;
        client.map_err(std::io::Error::other)??
    };
    if options.is_default() {
        for pin in pinned::FILES {
            let wanted = DownloadRequest::pinned(address(options, pin.file)?, pin);
            download(&client, &wanted, into, patience, progress).await?;
        }
    } else {
        fetch_any(options, &client, into, patience, progress).await?;
    }
    Ok(into.to_owned())
}

async fn fetch_any(
    options: &PullOptions,
    client: &Client,
    into: &Path,
    patience: Timeouts,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    for (number, (file, limit)) in FILES.iter().enumerate() {
        let wanted = DownloadRequest { url: address(options, file)?, file, sha256: None, limit: *limit };
        match download(client, &wanted, into, patience, progress).await {
            Err(PullError::Refused { status: 401 | 403 | 404, .. }) if number >= REQUIRED_FILES => {
                // An earlier version had it, perhaps.
                let _there_was_none = tokio::fs::remove_file(into.join(file)).await;
            }
            other => other?,
        }
    }
    Ok(())
}

fn address(options: &PullOptions, file: &str) -> Result<Url, PullError> {
    let PullOptions { hub, repo, revision, .. } = options;
    let hub = hub.trim_end_matches('/');
    Url::parse(&format!("{hub}/{repo}/resolve/{revision}/{file}")).map_err(|_| PullError::Address)
}
