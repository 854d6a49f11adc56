//! Downloads one file, resuming an earlier attempt.

use std::{path::Path, time::Duration};

use lyceum_net::Backoff;
use reqwest::{Client, Response, StatusCode, Url, header};
use tokio::{
    fs::{self, File, OpenOptions},
    io::AsyncWriteExt,
};

use super::{Progress, PullError, client::Timeouts, pinned::Pin};
use crate::model::digest;

/// Attempts per file.
const MAX_ATTEMPTS: u32 = 3;

/// A file to download.
#[derive(Debug)]
pub(super) struct DownloadRequest<'a> {
    pub(super) url: Url,
    /// File name in the folder.
    pub(super) file: &'a str,
    pub(super) sha256: Option<&'a str>,
    pub(super) limit: u64,
}

impl<'a> DownloadRequest<'a> {
    pub(super) fn pinned(url: Url, pin: &'a Pin) -> Self {
        Self { url, file: pin.file, sha256: Some(pin.sha256), limit: pin.size }
    }
}

/// Downloads a file to a folder, unless it exists with the right hash.
pub(super) async fn download(
    client: &Client,
    request: &DownloadRequest<'_>,
    folder: &Path,
    timeouts: Timeouts,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let to = folder.join(request.file);
    if let Some(sha256) = request.sha256
        && fs::try_exists(&to).await?
        && hash(&to).await? == sha256
    {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).await?;
    }
    let part = folder.join(format!("{}.part", request.file));
    let backoff = Backoff { first: timeouts.pause, max: Duration::from_secs(30) };
    for attempt in 1..=MAX_ATTEMPTS {
        match attempt_once(client, request, &part, progress).await {
            Ok(()) => break,
            Err(error) if attempt < MAX_ATTEMPTS && is_transient(&error) => {
                progress(Progress::Retrying { file: request.file.to_owned(), why: error.to_string() });
                tokio::time::sleep(backoff.after(attempt)).await;
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(sha256) = request.sha256 {
        let found = hash(&part).await?;
        if found != sha256 {
            fs::remove_file(&part).await?;
            return Err(PullError::WrongHash { file: request.file.to_owned(), found });
        }
    }
    fs::rename(&part, to).await?;
    let _ignore_missing = fs::remove_file(part.with_added_extension("tag")).await;
    Ok(())
}

async fn attempt_once(
    client: &Client,
    request: &DownloadRequest<'_>,
    part: &Path,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let etag_file = part.with_added_extension("tag");
    let (resumed, etag) = resumable(request, part, &etag_file).await;
    let mut builder = client.get(request.url.clone());
    if resumed > 0 {
        builder = builder.header(header::RANGE, format!("bytes={resumed}-"));
    }
    if let Some(etag) = etag {
        builder = builder.header(header::IF_RANGE, etag);
    }
    let response = builder.send().await.map_err(|error| unreachable(&error))?;
    let (mut file, mut done) = match response.status() {
        StatusCode::PARTIAL_CONTENT
            if resumed > 0 && content_range(&response).starts_with(&format!("{resumed}-")) =>
        {
            (OpenOptions::new().append(true).open(part).await?, resumed)
        }
        // The file is complete already.
        StatusCode::RANGE_NOT_SATISFIABLE
            if resumed > 0 && content_range(&response) == format!("*/{resumed}") =>
        {
            return Ok(());
        }
        status if status.is_success() && status != StatusCode::PARTIAL_CONTENT => {
            let file = File::create(part).await?;
            save_etag(&response, &etag_file).await?;
            (file, 0)
        }
        StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
            let _ignore_missing = fs::remove_file(part).await;
            return Err(PullError::Unreachable("the hub sent another range than requested".to_owned()));
        }
        status => {
            if status == StatusCode::NOT_FOUND {
                let _ignore_missing = fs::remove_file(part).await;
            }
            return Err(PullError::Refused { file: request.file.to_owned(), status: status.as_u16() });
        }
    };
    let total = response.content_length().map(|rest| done + rest);
    receive(response, request, &mut file, &mut done, total, progress).await?;
    file.sync_all().await?;
    if total.is_some_and(|total| done < total) {
        return Err(PullError::Unreachable("the hub sent less than its content length".to_owned()));
    }
    Ok(())
}

async fn receive(
    mut response: Response,
    request: &DownloadRequest<'_>,
    file: &mut File,
    done: &mut u64,
    total: Option<u64>,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<(), PullError> {
    if total.is_some_and(|total| total > request.limit) {
        return Err(too_large(request));
    }
    while let Some(piece) = next_piece(&mut response, file).await? {
        *done += piece.len() as u64;
        if *done > request.limit {
            return Err(too_large(request));
        }
        file.write_all(&piece).await?;
        progress(Progress::Downloading { file: request.file.to_owned(), done: *done, total });
    }
    Ok(file.flush().await?)
}

/// Reads the next piece. Flushes the file if the connection breaks, so that the next attempt can resume.
async fn next_piece(
    response: &mut Response,
    file: &mut File,
) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + use<>>, PullError> {
    match response.chunk().await {
        Ok(piece) => Ok(piece),
        Err(error) => {
            file.flush().await?;
            Err(unreachable(&error))
        }
    }
}

/// How many bytes can be resumed, and the ETag of their version. Without a hash to verify, a download is resumed only
/// with an ETag.
async fn resumable(request: &DownloadRequest<'_>, part: &Path, etag_file: &Path) -> (u64, Option<String>) {
    let resumed = fs::metadata(part).await.map_or(0, |part| part.len());
    match fs::read_to_string(etag_file).await {
        _ if resumed == 0 => (0, None),
        Ok(etag) if !etag.is_empty() => (resumed, Some(etag)),
        _ if request.sha256.is_some() => (resumed, None),
        _ => (0, None),
    }
}

/// Stores the ETag of the file being downloaded.
async fn save_etag(response: &Response, etag_file: &Path) -> Result<(), PullError> {
    let etag = response.headers().get(header::ETAG).and_then(|etag| etag.to_str().ok());
    // Weak ETags do not identify bytes.
    let etag = etag.filter(|etag| !etag.starts_with("W/"));
    Ok(fs::write(etag_file, etag.unwrap_or_default()).await?)
}

/// The `Content-Range`, such as `5-9/10`.
fn content_range(response: &Response) -> String {
    let content_range =
        response.headers().get(header::CONTENT_RANGE).and_then(|content_range| content_range.to_str().ok());
    content_range
        .and_then(|content_range| content_range.strip_prefix("bytes "))
        .unwrap_or_default()
        .to_owned()
}

async fn hash(path: &Path) -> Result<String, PullError> {
    let path = path.to_owned();
    let hash = tokio::task::spawn_blocking(move || digest::of_file(&path)).await;
    Ok(hash.map_err(std::io::Error::other)??)
}

fn is_transient(error: &PullError) -> bool {
    match error {
        PullError::Unreachable(_) => true,
        PullError::Refused { status, .. } => *status >= 500 || *status == 429 || *status == 408,
        _ => false,
    }
}

fn too_large(request: &DownloadRequest<'_>) -> PullError {
    PullError::TooLarge { file: request.file.to_owned(), limit: request.limit }
}

/// Reports the innermost cause, which is the most specific and contains no URL.
fn unreachable(error: &reqwest::Error) -> PullError {
    if error.is_timeout() {
        return PullError::Unreachable("the hub did not answer in time".to_owned());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    PullError::Unreachable(cause.to_string())
}
