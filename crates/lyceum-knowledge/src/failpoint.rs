//! Failpoints: abort the process at a named step, for crash tests. No effect in release builds.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// A step at which the process can be aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A delivery is about to be persisted.
    Delivery,
    /// A delivery is persisted and not acknowledged yet.
    Accepted,
    /// The source is fetched and the sync planned.
    Planned,
    /// Some of the files are read.
    Read,
    /// Some of the documents are staged.
    Staged,
    /// The new commit is published.
    Published,
    /// Some objects are uploaded; the database doesn't know yet.
    Uploaded,
    /// Events are read; the catalog isn't updated yet.
    Followed,
    /// A draft is approved, and nothing is recorded yet.
    DraftApproved,
    /// The approval of a draft is in the audit log.
    DraftAudited,
    /// A draft is in the database.
    DraftQueued,
    /// GitHub has neither a pull request nor a branch of a draft.
    DraftSought,
    /// The base of a draft is known, but not in the database yet.
    DraftBase,
    /// The base of a draft is in the database.
    DraftBased,
    /// GitHub has the tree of a draft.
    DraftTree,
    /// GitHub has the commit of a draft.
    DraftCommit,
    /// GitHub has the branch of a draft.
    DraftBranch,
    /// GitHub has the pull request of a draft; the database doesn't know yet.
    DraftOpened,
    /// The pull request of a draft is in the database, and the caller not answered yet.
    DraftStored,
}

static TARGET: OnceLock<(String, AtomicU32)> = OnceLock::new();

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
            Self::DraftApproved => "draft-approved",
            Self::DraftAudited => "draft-audited",
            Self::DraftQueued => "draft-queued",
            Self::DraftSought => "draft-sought",
            Self::DraftBase => "draft-base",
            Self::DraftBased => "draft-based",
            Self::DraftTree => "draft-tree",
            Self::DraftCommit => "draft-commit",
            Self::DraftBranch => "draft-branch",
            Self::DraftOpened => "draft-opened",
            Self::DraftStored => "draft-stored",
        }
    }
}

/// Aborts at a step, such as `read`, or `read:3` for the third time that it is reached.
pub fn end_at(spec: &str) {
    let (step, times) = spec.split_once(':').unwrap_or((spec, "1"));
    let times = times.parse().unwrap_or(1);
    // The first call wins.
    let _first = TARGET.set((step.to_owned(), AtomicU32::new(times)));
}

/// Aborts the process if this step is the target.
pub(crate) fn reached(step: Step) {
    if !cfg!(debug_assertions) {
        return;
    }
    if let Some((target, left)) = TARGET.get()
        && target == step.as_str()
        && left.fetch_sub(1, Ordering::SeqCst) == 1
    {
        std::process::abort();
    }
}
