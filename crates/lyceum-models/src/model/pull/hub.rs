//! The files of a model from a hub: `{hub}/{repo}/resolve/{revision}/{file}`.

use std::path::{Path, PathBuf};

use reqwest::{Client, Url};

use super::{
    Progress, PullError, PullOptions,
    client::{Patience, client},
    download::{Wanted, download},
    pinned,
};

/// The largest model that is taken: a large XLM-R in floats has 2.2 GB.
const MOST: u64 = 3 << 30;
/// The largest of the other files.
const MOST_SMALL: u64 = 64 << 20;

/// What an ONNX model of a hub consists of; only the first two must be there.
const FILES: &[(&str, u64)] = &[
    ("tokenizer.json", MOST_SMALL),
    ("onnx/model.onnx", MOST),
    ("config.json", MOST_SMALL),
    ("1_Pooling/config.json", MOST_SMALL),
    ("sentence_bert_config.json", MOST_SMALL),
    ("config_sentence_transformers.json", MOST_SMALL),
    ("onnx/model.onnx_data", MOST),
];
const NEEDED: usize = 2;

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
    let patience = Patience::default();
    let client = {
        let hub = hub.clone();
        let client = tokio::task::spawn_blocking(move || client(&hub, patience)).await;
        client.map_err(std::io::Error::other)??
    };
    if options.is_default() {
        for pin in pinned::FILES {
            let wanted = Wanted::pinned(address(options, pin.file)?, pin);
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
    patience: Patience,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    for (number, (file, limit)) in FILES.iter().enumerate() {
        let wanted = Wanted { url: address(options, file)?, file, sha256: None, limit: *limit };
        match download(client, &wanted, into, patience, progress).await {
            Err(PullError::Refused { status: 401 | 403 | 404, .. }) if number >= NEEDED => {
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
