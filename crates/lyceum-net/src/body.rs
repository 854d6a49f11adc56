//! Bodies of answers, read within a limit: no server decides how much memory we use.

use reqwest::Response;

use crate::category;

/// Why a body was not read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is larger than it may be.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// How large it may be.
        limit: usize,
    },
    /// It ended early, or too late.
    #[error("{}", category(.0))]
    Broken(#[source] reqwest::Error),
}

/// Reads a whole body of at most so many bytes.
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

/// Reads the first bytes of a body, as many as there are up to the limit: enough to say what a refusal said.
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
