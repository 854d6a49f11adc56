//! One file from a hub, continued where an attempt before broke off.

use std::{path::Path, time::Duration};

use lyceum_net::Backoff;
use reqwest::{Client, Response, StatusCode, Url, header};
use tokio::{
    fs::{self, File, OpenOptions},
    io::AsyncWriteExt,
};

use super::{Progress, PullError, client::Timeouts, pinned::Pin};
use crate::model::digest;

/// How often a file is tried.
const MAX_ATTEMPTS: u32 = 3;

/// What is wanted.
#[derive(Debug)]
pub(super) struct DownloadRequest<'a> {
    pub(super) url: Url,
    /// The name it gets in the folder.
    pub(super) file: &'a str,
    pub(super) sha256: Option<&'a str>,
    pub(super) limit: u64,
}

impl<'a> DownloadRequest<'a> {
    pub(super) fn pinned(url: Url, pin: &'a Pin) -> Self {
        Self { url, file: pin.file, sha256: Some(pin.sha256), limit: pin.size }
    }
}

/// Brings a file into a folder. What is there with the right hash stays.
pub(super) async fn download(
    client: &Client,
    wanted: &DownloadRequest<'_>,
    folder: &Path,
    patience: Timeouts,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let to = folder.join(wanted.file);
    if let Some(sha256) = wanted.sha256
        && fs::try_exists(&to).await?
        && hash(&to).await? == sha256
    {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).await?;
    }
    let part = folder.join(format!("{}.part", wanted.file));
    let backoff = Backoff { first: patience.pause, max: Duration::from_secs(30) };
    for attempt in 1..=MAX_ATTEMPTS {
        match attempt_once(client, wanted, &part, progress).await {
            Ok(()) => break,
            Err(fault) if attempt < MAX_ATTEMPTS && is_passing(&fault) => {
                progress(Progress::Retrying { file: wanted.file.to_owned(), why: fault.to_string() });
                tokio::time::sleep(backoff.after(attempt)).await;
            }
            Err(fault) => return Err(fault),
        }
    }
    if let Some(sha256) = wanted.sha256 {
        let found = hash(&part).await?;
        if found != sha256 {
            fs::remove_file(&part).await?;
            return Err(PullError::WrongHash { file: wanted.file.to_owned(), found });
        }
    }
    fs::rename(&part, to).await?;
    let _there_was_none = fs::remove_file(part.with_added_extension("tag")).await;
    Ok(())
}

async fn attempt_once(
    client: &Client,
    wanted: &DownloadRequest<'_>,
    part: &Path,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let tag = part.with_added_extension("tag");
    let (there, version) = continued(wanted, part, &tag).await;
    let mut request = client.get(wanted.url.clone());
    if there > 0 {
        request = request.header(header::RANGE, format!("bytes={there}-"));
    }
    if let Some(version) = version {
        request = request.header(header::IF_RANGE, version);
    }
    let response = request.send().await.map_err(|fault| unreachable(&fault))?;
    let (mut file, mut done) = match response.status() {
        StatusCode::PARTIAL_CONTENT if there > 0 && range(&response).starts_with(&format!("{there}-")) => {
            (OpenOptions::new().append(true).open(part).await?, there)
        }
        // The server has no more than what is there: that is all.
        StatusCode::RANGE_NOT_SATISFIABLE if there > 0 && range(&response) == format!("*/{there}") => {
            return Ok(());
        }
        status if status.is_success() && status != StatusCode::PARTIAL_CONTENT => {
            let file = File::create(part).await?;
            keep_version(&response, &tag).await?;
            (file, 0)
        }
        StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
            let _there_was_none = fs::remove_file(part).await;
            return Err(PullError::Unreachable("it sent another part than was asked for".to_owned()));
        }
        status => {
            if status == StatusCode::NOT_FOUND {
                let _there_was_none = fs::remove_file(part).await;
            }
            return Err(PullError::Refused { file: wanted.file.to_owned(), status: status.as_u16() });
        }
    };
    let total = response.content_length().map(|rest| done + rest);
    receive(response, wanted, &mut file, &mut done, total, progress).await?;
    file.sync_all().await?;
    if total.is_some_and(|total| done < total) {
        return Err(PullError::Unreachable("it sent less than it announced".to_owned()));
    }
    Ok(())
}

async fn receive(
    mut response: Response,
    wanted: &DownloadRequest<'_>,
    file: &mut File,
    done: &mut u64,
    total: Option<u64>,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    if total.is_some_and(|total| total > wanted.limit) {
        return Err(too_large(wanted));
    }
    while let Some(piece) = next_piece(&mut response, file).await? {
        *done += piece.len() as u64;
        if *done > wanted.limit {
            return Err(too_large(wanted));
        }
        file.write_all(&piece).await?;
        progress(Progress::Downloading { file: wanted.file.to_owned(), done: *done, total });
    }
    Ok(file.flush().await?)
}

/// The next bytes. What came before a broken connection is on the disk, for the next attempt.
async fn next_piece(
    response: &mut Response,
    file: &mut File,
) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + use<>>, PullError> {
    match response.chunk().await {
        Ok(piece) => Ok(piece),
        Err(fault) => {
            file.flush().await?;
            Err(unreachable(&fault))
        }
    }
}

/// How much is there that may be continued, and which version of the file it is of. Without a hash to compare with, only
/// what the server itself tells from another version is continued.
async fn continued(wanted: &DownloadRequest<'_>, part: &Path, tag: &Path) -> (u64, Option<String>) {
    let there = fs::metadata(part).await.map_or(0, |part| part.len());
    match fs::read_to_string(tag).await {
        _ if there == 0 => (0, None),
        Ok(version) if !version.is_empty() => (there, Some(version)),
        _ if wanted.sha256.is_some() => (there, None),
        _ => (0, None),
    }
}

/// Writes down which version of a file is being got.
async fn keep_version(response: &Response, tag: &Path) -> Result<(), PullError> {
    let version = response.headers().get(header::ETAG).and_then(|version| version.to_str().ok());
    // A weak one does not tell bytes apart.
    let version = version.filter(|version| !version.starts_with("W/"));
    Ok(fs::write(tag, version.unwrap_or_default()).await?)
}

/// What the server says which part it sends, such as `5-9/10`.
fn range(response: &Response) -> String {
    let range = response.headers().get(header::CONTENT_RANGE).and_then(|range| range.to_str().ok());
    range.and_then(|range| range.strip_prefix("bytes ")).unwrap_or_default().to_owned()
}

async fn hash(path: &Path) -> Result<String, PullError> {
    let path = path.to_owned();
    let hash = tokio::task::spawn_blocking(move || digest::of_file(&path)).await;
    Ok(hash.map_err(std::io::Error::other)??)
}

fn is_passing(fault: &PullError) -> bool {
    match fault {
        PullError::Unreachable(_) => true,
        PullError::Refused { status, .. } => *status >= 500 || *status == 429 || *status == 408,
        _ => false,
    }
}

fn too_large(wanted: &DownloadRequest<'_>) -> PullError {
    PullError::TooLarge { file: wanted.file.to_owned(), limit: wanted.limit }
}

/// The innermost cause says most, and no address.
fn unreachable(fault: &reqwest::Error) -> PullError {
    if fault.is_timeout() {
        return PullError::Unreachable("it did not answer in time".to_owned());
    }
    let mut cause: &dyn std::error::Error = fault;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    PullError::Unreachable(cause.to_string())
}
