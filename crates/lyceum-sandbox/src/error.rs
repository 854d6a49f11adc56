//! Errors of the sandbox: unavailable, or a failed run.

use std::io;

use lyceum_model::ErrorCode;

/// Why scripts can't run on this machine. For the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Unavailable {
    pub(crate) text: String,
}

/// Why a run failed. A script that exits with an error, or is stopped, is not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input can't be passed to a script.
    #[error("{0}")]
    Invalid(String),
    /// A layer of the sandbox could not be applied, so nothing was run.
    #[error("could not create the sandbox: {0}")]
    Refused(String),
    /// The script's network could not be limited to public addresses, so nothing was run.
    #[error("the script's network can't be limited to public addresses here: {0}")]
    NoNetwork(String),
    /// The sandbox is set up, but the runner could not be started in it.
    #[error("the script could not be started: {0}")]
    NotStarted(String),
    /// The helper process could not be started or communicated with.
    #[error("could not run the sandbox helper")]
    Helper(#[from] io::Error),
    /// The helper process exited or timed out without a report.
    #[error("the sandbox helper returned no report")]
    Lost,
}

impl Error {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::ValidationError,
            Self::Refused(_) | Self::NoNetwork(_) => ErrorCode::Unavailable,
            Self::NotStarted(_) | Self::Helper(_) | Self::Lost => ErrorCode::InternalError,
        }
    }
}
