//! Response bodies, read with a size limit: no server decides how much memory we use.

use reqwest::Response;

use crate::category;

/// Why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The body exceeds the limit.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The connection failed or timed out while reading.
    #[error("{}", category(.0))]
    Broken(#[source] reqwest::Error),
}

/// Reads a whole body of at most `limit` bytes.
pub async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyError::Broken)? {
        if body.len().saturating_add(chunk.len()) > limit {
            return Err(BodyError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads at most `limit` bytes from the start of a body, for example to quote an error response. Read errors end
/// it early.
pub async fn read_start(mut response: Response, limit: usize) -> Vec<u8> {
    let mut start = Vec::new();
    while start.len() < limit
        && let Ok(Some(chunk)) = response.chunk().await
    {
        start.extend(chunk.iter().take(limit.saturating_sub(start.len())));
    }
    start
}

#[cfg(test)]
mod tests;
