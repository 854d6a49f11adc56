//! Downloads the files of a model from a hub: `{hub}/{repo}/resolve/{revision}/{file}`.

use std::path::{Path, PathBuf};

use reqwest::{Client, Url};

use super::{
    Progress, PullError, PullOptions,
    client::{Timeouts, client},
    download::{DownloadRequest, download},
    pinned,
};

/// Maximum size of a model: a large XLM-R in float32 has 2.2 GB.
const MAX_MODEL_BYTES: u64 = 3 << 30;
/// Maximum size of other files.
const MAX_SMALL_FILE_BYTES: u64 = 64 << 20;

/// Files of an ONNX model; only the first two are required.
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

/// Downloads the files of a model to a folder.
pub(super) async fn fetch(
    options: &PullOptions,
    into: &Path,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<PathBuf, PullError> {
    let hub = Url::parse(&options.hub).map_err(|_| PullError::Address)?;
    if !matches!(hub.scheme(), "http" | "https") {
        return Err(PullError::Address);
    }
    let timeouts = Timeouts::default();
    let client = {
        let hub = hub.clone();
        let client = tokio::task::spawn_blocking(move || client(&hub, timeouts)).await;
        client.map_err(std::io::Error::other)??
    };
    if options.is_default() {
        for pin in pinned::FILES {
            let request = DownloadRequest::pinned(file_url(options, pin.file)?, pin);
            download(&client, &request, into, timeouts, progress).await?;
        }
    } else {
        fetch_any(options, &client, into, timeouts, progress).await?;
    }
    Ok(into.to_owned())
}

async fn fetch_any(
    options: &PullOptions,
    client: &Client,
    into: &Path,
    timeouts: Timeouts,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    for (number, (file, limit)) in FILES.iter().enumerate() {
        let request = DownloadRequest { url: file_url(options, file)?, file, sha256: None, limit: *limit };
        match download(client, &request, into, timeouts, progress).await {
            Err(PullError::Refused { status: 401 | 403 | 404, .. }) if number >= REQUIRED_FILES => {
                // An earlier revision may have had it.
                let _ignore_missing = tokio::fs::remove_file(into.join(file)).await;
            }
            other => other?,
        }
    }
    Ok(())
}

fn file_url(options: &PullOptions, file: &str) -> Result<Url, PullError> {
    let PullOptions { hub, repo, revision, .. } = options;
    let hub = hub.trim_end_matches('/');
    Url::parse(&format!("{hub}/{repo}/resolve/{revision}/{file}")).map_err(|_| PullError::Address)
}
