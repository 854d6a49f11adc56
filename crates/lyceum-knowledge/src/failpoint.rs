//! Ends the process at a named step, for tests of what a sudden end leaves behind. Does nothing in a release build.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// A step that a process can end at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A delivery is about to be written down.
    Delivery,
    /// A delivery is written down and not acknowledged yet.
    Accepted,
    /// The source was fetched, and it is known what to read.
    Planned,
    /// Some of the files are read.
    Read,
    /// Some of the documents are staged.
    Staged,
    /// The documents of the new commit count from now on.
    Published,
    /// Some of the objects are in the object store, and the database does not know.
    Uploaded,
    /// Events are read, and the catalog does not show them yet.
    Followed,
}

static END: OnceLock<(String, AtomicU32)> = OnceLock::new();

impl Step {
    fn as_str(self) -> &'static str {
        match self {
            Self::Delivery => "delivery",
            Self::Accepted => "accepted",
            Self::Planned => "planned",
            Self::Read => "read",
            Self::Staged => "staged",
            Self::Published => "published",
            Self::Uploaded => "uploaded",
            Self::Followed => "followed",
        }
    }
}

/// Asks for the end at a step, such as `read`, or `read:3` for the third time that it is reached.
pub fn end_at(wish: &str) {
    let (step, times) = wish.split_once(':').unwrap_or((wish, "1"));
    let times = times.parse().unwrap_or(1);
    // The first wish counts.
    let _first = END.set((step.to_owned(), AtomicU32::new(times)));
}

/// Ends the process if that was asked for.
pub(crate) fn reached(step: Step) {
    if !cfg!(debug_assertions) {
        return;
    }
    if let Some((wished, left)) = END.get()
        && wished == step.as_str()
        && left.fetch_sub(1, Ordering::SeqCst) == 1
    {
        std::process::abort();
    }
}
