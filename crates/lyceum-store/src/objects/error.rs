//! Why an object could not be kept or found.
//!
//! The texts are for whoever runs the server: they say what to do and never hold a secret or a path of ours.

use std::{error::Error, io, time::Duration};

use lyceum_model::ErrorCode;

/// Why an object could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The settings of the store can't be used.
    #[error("{0}")]
    Settings(String),
    /// The folder for the objects can't be made or opened.
    #[error("the folder for objects can't be used ({}); check its path and its owner", .0.kind())]
    Folder(#[source] io::Error),
    /// A part of the key is longer than the disk takes.
    #[error(
        "the name {name:?} is too long for a file: a part of it takes {bytes} bytes on the disk, and {most} are the most; shorten it"
    )]
    NameTooLong {
        /// The beginning of the part.
        name: String,
        /// How long it is on the disk.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// No room is left.
    #[error("the disk is full; make room, or move the data folder to a larger disk")]
    DiskFull(#[source] Cause),
    /// The store does not let us in.
    #[error("the object store does not let us in; check the access key, its secret and what it may do")]
    Denied(#[source] Cause),
    /// The bucket is not there.
    #[error("the bucket is not there; make it, or check its name, the region and the endpoint")]
    NoBucket(#[source] Cause),
    /// The store can't be reached, or it is not able to answer now.
    #[error("the object store can't be reached or is busy; see whether it runs, and try again")]
    Unreachable(#[source] Cause),
    /// The store did not answer in time.
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
            Self::NameTooLong { .. } => ErrorCode::InvalidPath,
            Self::TooMany { .. } => ErrorCode::InvalidLimit,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::DiskFull(_) => ErrorCode::Unavailable,
            Self::Denied(_) | Self::NoBucket(_) | Self::Unreachable(_) => ErrorCode::UpstreamError,
            Self::Folder(_) | Self::Failed(_) => ErrorCode::InternalError,
        }
    }

    /// Whether the same may work later, without a change of the object or of our settings.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::DiskFull(_) | Self::Unreachable(_) | Self::TooSlow { .. } => true,
            Self::Settings(_)
            | Self::Folder(_)
            | Self::NameTooLong { .. }
            | Self::Denied(_)
            | Self::NoBucket(_)
            | Self::TooMany { .. }
            | Self::Failed(_) => false,
        }
    }
}

impl From<object_store::Error> for ObjectError {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as Said;
        if causes(&error).any(is_full) {
            return Self::DiskFull(error.into());
        }
        match error {
            Said::PermissionDenied { .. } | Said::Unauthenticated { .. } => Self::Denied(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}

/// The causes of an error that are known, one below the other.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

fn is_full(cause: &(dyn Error + 'static)) -> bool {
    let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
}
