//! Errors of the tools: `{ code, message, details: { repo, path, branch, githubStatus } }`.

use lyceum_model::{ErrorCode, RelPath};
use lyceum_source::github;
use lyceum_tools::Error;
use serde_json::{Map, Value, json};

use crate::part::Reader;

/// Why a file could not be read. Cheap to clone: everyone who waits for a read gets it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadFailure {
    /// The caller sent no GitHub token.
    #[error(
        "reading needs your GitHub token; send it as Authorization: Bearer <base64url of the token>, with auth.mode = \"github-pat\""
    )]
    NoToken,
    /// GitHub's answer is an error.
    #[error("{0}")]
    GitHub(#[from] github::Error),
    /// What is there is not a file.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// There is no such file in the server's copy.
    #[error("there is no such file")]
    Missing,
    /// The file in the server's copy can't be read.
    #[error("the file can't be read: {0}")]
    Unreadable(String),
}

impl ReadFailure {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoToken => ErrorCode::Unauthorized,
            Self::GitHub(error) => error.code(),
            Self::NotAFile(_) | Self::Missing => ErrorCode::NotFound,
            Self::Unreadable(_) => ErrorCode::UpstreamError,
        }
    }

    /// The error of a tool, about that path. `hint` says what to do if nothing is there.
    pub(crate) fn into_error(self, reader: &Reader, path: &RelPath, hint: &str) -> Error {
        let mut details = details(reader, path.as_str());
        if let Self::GitHub(error) = &self {
            if let Some(status) = error.status() {
                details.insert("githubStatus".to_owned(), json!(status));
            }
            if let github::Error::RateLimited { retry_after, .. } = error {
                details.insert("retryAfter".to_owned(), json!(retry_after.as_secs().max(1)));
            }
            if let github::Error::Unreachable { cause, .. } = error {
                tracing::warn!(error.cause = cause, repository = reader.repo(), "could not reach GitHub");
            }
        }
        let mut message = format!("cannot read {path} of {}: {self}", reader.repo());
        if self.code() == ErrorCode::NotFound && !hint.is_empty() {
            message = format!("{message}; {hint}");
        }
        Error::Detailed { code: self.code(), message, details: Value::Object(details) }
    }
}

/// The error for a name or path that leaves its folder. Nothing is fetched.
pub(crate) fn invalid_path(reader: &Reader, field: &str, path: &str, error: impl std::fmt::Display) -> Error {
    let shown: String = path.chars().take(80).collect();
    let details = Value::Object(details(reader, &shown));
    Error::Detailed { code: ErrorCode::InvalidPath, message: format!("{field}: {error}"), details }
}

fn details(reader: &Reader, path: &str) -> Map<String, Value> {
    let mut details =
        Map::from_iter([("repo".to_owned(), json!(reader.repo())), ("path".to_owned(), json!(path))]);
    if let Some(branch) = reader.branch() {
        details.insert("branch".to_owned(), json!(branch));
    }
    details
}
