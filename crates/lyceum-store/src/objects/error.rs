//! Why an object could not be kept or found.
//!
//! The texts are for whoever runs the server: they say what to do and never hold a secret or a path of ours.

use std::{error::Error, io, time::Duration};

use lyceum_model::ErrorCode;
use object_store::client::{HttpError, HttpErrorKind};

use super::s3::{ErrorClass, ErrorResponse};

/// Why an object could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The settings of the store can't be used.
    #[error("{0}")]
    Settings(String),
    /// The certificates that this system trusts can't be read.
    #[error(
        "the certificates that this system trusts could not be read; install them (often: ca-certificates)"
    )]
    Trust(#[source] Cause),
    /// The folder for the objects can't be made, opened, read or written.
    #[error("the folder for objects can't be used ({kind}); check its path and its owner")]
    Folder {
        /// What the system has against it.
        kind: io::ErrorKind,
        /// What was being done.
        #[source]
        source: Cause,
    },
    /// A name is longer than the store takes.
    #[error("the object key is too long for the object store: {0}")]
    NameTooLong(&'static str),
    /// The object is larger than one may be.
    #[error("the object is larger than {most} bytes; split it, or raise the limit")]
    TooLarge {
        /// How large it may be.
        most: u64,
    },
    /// No room is left.
    #[error("the disk is full; make room, or move the data folder to a larger disk")]
    DiskFull(#[source] Cause),
    /// The store does not let us in.
    #[error(
        "the object store denied access; check the access key, its secret, the region and the permissions of the key"
    )]
    Denied(#[source] Cause),
    /// The bucket is not there.
    #[error("the bucket does not exist; create it, or check its name, the region and the endpoint")]
    NoBucket(#[source] Cause),
    /// The store can't be reached, or it is not able to answer now.
    #[error("the object store can't be reached or is busy; check that it is running, and retry")]
    Unreachable(#[source] Cause),
    /// The store did not answer in time. What was asked of it may still be done.
    #[error("the object store did not answer within {} seconds; try again", limit.as_secs_f32())]
    TooSlow {
        /// The limit.
        limit: Duration,
    },
    /// There are more objects than were asked for.
    #[error("there are more than {most} objects; list a folder further down")]
    TooMany {
        /// How many were asked for.
        most: usize,
    },
    /// The store failed in another way.
    #[error("the object store failed; the log has the details")]
    Failed(#[source] Cause),
}

/// What the store said, for the log.
type Cause = Box<dyn Error + Send + Sync>;

impl ObjectError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Settings(_) => ErrorCode::ValidationError,
            Self::NameTooLong(_) => ErrorCode::InvalidPath,
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::TooMany { .. } => ErrorCode::InvalidLimit,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::DiskFull(_) => ErrorCode::Unavailable,
            Self::Denied(_) | Self::NoBucket(_) | Self::Unreachable(_) => ErrorCode::UpstreamError,
            Self::Trust(_) | Self::Folder { .. } | Self::Failed(_) => ErrorCode::InternalError,
        }
    }

    /// Whether the same may work later, without a change of the object or of our settings.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::DiskFull(_) | Self::Unreachable(_) | Self::TooSlow { .. } => true,
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

    /// Makes an error of what the disk said, however deep it stands in `error`.
    fn of_disk(error: Cause, kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull(error),
            io::ErrorKind::InvalidFilename => {
                Self::NameTooLong("shorten it; this disk takes less than most do")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Folder { kind, source: error }
            }
            _ => Self::Failed(error),
        }
    }

    fn of_response(error: Cause, meaning: ErrorClass) -> Self {
        match meaning {
            ErrorClass::NoBucket => Self::NoBucket(error),
            ErrorClass::Denied => Self::Denied(error),
            ErrorClass::NameTooLong => Self::NameTooLong("shorten the path, or what stands before every key"),
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
        if let Some(answer) = cause::<ErrorResponse>(&error) {
            let meaning = answer.meaning();
            return Self::of_response(error.into(), meaning);
        }
        if let Some(kind) = cause::<HttpError>(&error).map(HttpError::kind) {
            return match kind {
                HttpErrorKind::Decode => Self::Failed(error.into()),
                _ => Self::Unreachable(error.into()),
            };
        }
        match cause::<io::Error>(&error).map(io::Error::kind) {
            Some(kind) => Self::of_disk(error.into(), kind),
            None => Self::Failed(error.into()),
        }
    }
}

/// The first cause of an error that is of a type.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    std::iter::successors(Some(error), |error| (*error).source()).find_map(|error| error.downcast_ref())
}
