//! Why no script can run here, and why one run failed.

use std::io;

use lyceum_model::ErrorCode;

/// Why no script can run here. For the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Unavailable {
    pub(crate) text: String,
}

/// Why a run failed. A script that ends with an exit code of its own, or is stopped, is no error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller's input can't be handed to a script.
    #[error("{0}")]
    Invalid(String),
    /// A layer of the sandbox could not be put on, so nothing was run.
    #[error("could not create the sandbox: {0}")]
    Refused(String),
    /// The script's network could not be limited to public addresses, so nothing was run.
    #[error("the script's network can't be limited to public addresses here: {0}")]
    NoNetwork(String),
    /// The sandbox stands, but the runner could not be started in it.
    #[error("the script could not be started: {0}")]
    NotStarted(String),
    /// The helper process could not be started or spoken to.
    #[error("could not run the sandbox helper")]
    Helper(#[from] io::Error),
    /// The helper process ended without a report, or gave none in time.
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
