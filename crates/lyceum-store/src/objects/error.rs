//! Errors of the object store.
//!
//! The messages are for the operator: they say what to do, and never contain a secret or a local path.

use std::{error::Error, io, time::Duration};

use lyceum_model::ErrorCode;
use object_store::client::{HttpError, HttpErrorKind};

use super::s3::{ErrorClass, ErrorResponse};

/// Why an operation of the object store failed.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The settings are invalid.
    #[error("{0}")]
    Settings(String),
    /// The system's root certificates can't be read.
    #[error("can't read the system's root certificates; install them (often the package ca-certificates)")]
    Trust(#[source] Cause),
    /// The folder of a local store can't be created, read or written.
    #[error("the folder for objects can't be used ({kind}); check its path and its owner")]
    Folder {
        /// Kind of the I/O error.
        kind: io::ErrorKind,
        /// The underlying error.
        #[source]
        source: Cause,
    },
    /// A key is too long for the store.
    #[error("the object key is too long for the object store: {0}")]
    NameTooLong(&'static str),
    /// The object exceeds the maximum size.
    #[error("the object is larger than {max} bytes; split it, or raise the limit")]
    TooLarge {
        /// Maximum size in bytes.
        max: u64,
    },
    /// The disk is full.
    #[error("the disk is full; make room, or move the data folder to a larger disk")]
    DiskFull(#[source] Cause),
    /// The store denied access.
    #[error(
        "the object store denied access; check the access key, its secret, the region and the permissions of the key"
    )]
    Denied(#[source] Cause),
    /// The bucket doesn't exist.
    #[error("the bucket does not exist; create it, or check its name, the region and the endpoint")]
    NoBucket(#[source] Cause),
    /// The store is unreachable or temporarily unavailable.
    #[error("the object store can't be reached or is busy; check that it is running, and retry")]
    Unreachable(#[source] Cause),
    /// The operation timed out. The store may still complete it.
    #[error("the object store did not respond within {} seconds; try again", limit.as_secs_f32())]
    Timeout {
        /// The timeout.
        limit: Duration,
    },
    /// A listing exceeds its limit.
    #[error("there are more than {max} objects; list a folder further down")]
    TooMany {
        /// Maximum number of keys.
        max: usize,
    },
    /// Any other error of the store.
    #[error("the object store failed; the log has the details")]
    Failed(#[source] Cause),
}

/// Underlying error, for the log.
type Cause = Box<dyn Error + Send + Sync>;

impl ObjectError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Settings(_) => ErrorCode::ValidationError,
            Self::NameTooLong(_) => ErrorCode::InvalidPath,
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::TooMany { .. } => ErrorCode::InvalidLimit,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::DiskFull(_) => ErrorCode::Unavailable,
            Self::Denied(_) | Self::NoBucket(_) | Self::Unreachable(_) => ErrorCode::UpstreamError,
            Self::Trust(_) | Self::Folder { .. } | Self::Failed(_) => ErrorCode::InternalError,
        }
    }

    /// Whether a retry may succeed, without changes to the object or the settings.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::DiskFull(_) | Self::Unreachable(_) | Self::Timeout { .. } => true,
            Self::Settings(_)
            | Self::Trust(_)
            | Self::Folder { .. }
            | Self::NameTooLong(_)
            | Self::TooLarge { .. }
            | Self::Denied(_)
            | Self::NoBucket(_)
            | Self::TooMany { .. }
            | Self::Failed(_) => false,
        }
    }

    /// Classifies an I/O error found anywhere in the chain of `error`.
    fn of_disk(error: Cause, kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull(error),
            io::ErrorKind::InvalidFilename => {
                Self::NameTooLong("shorten it; this file system allows less than most do")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Folder { kind, source: error }
            }
            _ => Self::Failed(error),
        }
    }

    fn of_response(error: Cause, class: ErrorClass) -> Self {
        match class {
            ErrorClass::NoBucket => Self::NoBucket(error),
            ErrorClass::Denied => Self::Denied(error),
            ErrorClass::NameTooLong => Self::NameTooLong("shorten the path, or the prefix of all keys"),
            ErrorClass::Busy => Self::Unreachable(error),
            ErrorClass::NoObject | ErrorClass::Other => Self::Failed(error),
        }
    }
}

impl From<io::Error> for ObjectError {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        Self::of_disk(error.into(), kind)
    }
}

impl From<object_store::Error> for ObjectError {
    fn from(error: object_store::Error) -> Self {
        if let Some(response) = find_cause::<ErrorResponse>(&error) {
            let class = response.class();
            return Self::of_response(error.into(), class);
        }
        if let Some(kind) = find_cause::<HttpError>(&error).map(HttpError::kind) {
            return match kind {
                HttpErrorKind::Decode => Self::Failed(error.into()),
                _ => Self::Unreachable(error.into()),
            };
        }
        match find_cause::<io::Error>(&error).map(io::Error::kind) {
            Some(kind) => Self::of_disk(error.into(), kind),
            None => Self::Failed(error.into()),
        }
    }
}

/// Finds the first error of type `T` in the chain.
fn find_cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    std::iter::successors(Some(error), |error| (*error).source()).find_map(|error| error.downcast_ref())
}
