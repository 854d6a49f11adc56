//! Parses the report of `lyceum sync`.

/// The used part of the report.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SyncReport {
    pub(super) commit: String,
    /// The reported duration, in milliseconds.
    pub(super) took_ms: f64,
    pub(super) added: usize,
    pub(super) changed: usize,
    pub(super) removed: usize,
    pub(super) files: Files,
}

/// Number of files by state.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Files {
    pub(super) published: usize,
    pub(super) drafts: usize,
    pub(super) unpublished: usize,
    pub(super) skipped: usize,
    pub(super) failed: usize,
}

impl SyncReport {
    /// Number of added, changed and removed documents.
    pub(super) fn touched(&self) -> usize {
        self.added + self.changed + self.removed
    }
}

impl Files {
    /// Total number of files.
    pub(super) fn total(&self) -> usize {
        self.published + self.drafts + self.unpublished + self.skipped + self.failed
    }
}

/// Parses the report; `None` if it is invalid.
pub(super) fn parse(text: &str) -> Option<SyncReport> {
    let (_, first) = text.lines().next()?.split_once(" at ")?;
    let (commit, took) = first.split_once(", in ")?;
    let count = |word: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(": "));
        line.map_or(Some(0), |number| number.parse().ok())
    };
    Some(SyncReport {
        commit: commit.to_owned(),
        took_ms: took.strip_suffix(" ms")?.parse().ok()?,
        added: count("added")?,
        changed: count("changed")?,
        removed: count("removed")?,
        files: files(text.lines().next_back()?)?,
    })
}

/// Parses `N files: N published, N drafts, N unpublished, N skipped, N failed`.
fn files(line: &str) -> Option<Files> {
    let (all, rest) = line.split_once(" files: ")?;
    let count = |word: &str| {
        let part = rest.split(", ").find_map(|part| part.strip_suffix(word)?.strip_suffix(' '));
        part?.parse().ok()
    };
    let files = Files {
        published: count("published")?,
        drafts: count("drafts")?,
        unpublished: count("unpublished")?,
        skipped: count("skipped")?,
        failed: count("failed")?,
    };
    (all.parse() == Ok(files.total())).then_some(files)
}

#[cfg(test)]
mod tests;
