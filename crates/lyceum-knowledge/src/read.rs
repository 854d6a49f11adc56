//! Parses one file of a source: type, visibility and faults.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use jiff::Timestamp;
use lyceum_content::{
    document::{self, Publishing, Visibility},
    frontmatter,
    ontology::Ontology,
};
use lyceum_model::RelPath;
use lyceum_source::{ReadError, Snapshot};
use lyceum_store::{
    Key,
    documents::{FileRow, FileState},
    jobs::Retries,
};
use serde_json::json;

use crate::{document::hash, plan::excluded_by};

/// Maximum size of a document.
pub const MAX_DOCUMENT_BYTES: u64 = 8 * 1024 * 1024;

/// Retries of an unreadable file: five attempts, after 30 seconds and then doubling.
pub(crate) const RETRIES: Retries = Retries { limit: 5, first: Duration::from_secs(30) };

/// The context of reading a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub snapshot: &'a Snapshot,
    pub ontology: &'a Ontology,
    pub publishing: Publishing,
    pub exclude: &'a [RelPath],
    pub now: Timestamp,
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct ReadFile {
    pub row: FileRow,
    /// Whether its frontmatter alone would publish it.
    pub is_published_by_frontmatter: bool,
}

impl Reader<'_> {
    /// Reads and parses a file. `before` is its stored row, with the number of failed attempts.
    pub(crate) fn read(&self, path: &RelPath, before: Option<&FileRow>) -> ReadFile {
        let stamp = self.snapshot.files().get(path).and_then(|meta| meta.stamp.durable());
        let mut row = FileRow {
            path: path.as_str().to_owned(),
            stamp,
            digest: None,
            content_type: self.ontology.type_of_path(path).to_owned(),
            state: FileState::Skipped,
            reason: None,
            faults: None,
            attempts: 0,
            due: None,
        };
        if let Some(reason) = self.excluded(path) {
            row.reason = Some(reason);
            return ReadFile { row, is_published_by_frontmatter: false };
        }
        let parsed = catch_unwind(AssertUnwindSafe(|| match self.text(path) {
            Ok(text) => Ok(self.parse(&mut row, path, &text)),
            Err(unreadable) => Err(unreadable),
        }));
        let mut is_published_by_frontmatter = false;
        // A panic on one file must not affect the others.
        match parsed
            .unwrap_or_else(|_| Err(ReadFault::Transient("reading it failed; see the log".to_owned())))
        {
            Ok(is_published) => is_published_by_frontmatter = is_published,
            Err(ReadFault::Permanent(reason)) => row.reason = Some(reason),
            Err(ReadFault::Transient(reason)) => {
                let failed =
                    before.filter(|before| before.state == FileState::Failed && before.stamp == row.stamp);
                row.attempts = failed.map_or(0, |before| before.attempts) + 1;
                row.due = RETRIES.next(row.attempts, self.now);
                row.state = FileState::Failed;
                row.reason = Some(reason);
                // Its published document keeps its type, and thus its id.
                if let Some(before) = before {
                    row.content_type.clone_from(&before.content_type);
                }
            }
        }
        ReadFile { row, is_published_by_frontmatter }
    }

    /// Reads the text of a file.
    pub(crate) fn text(&self, path: &RelPath) -> Result<String, ReadFault> {
        let bytes = match self.snapshot.read(path, MAX_DOCUMENT_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadError::TooLarge { .. }) => {
                return Err(ReadFault::Permanent("it is larger than 8 MiB; split it".to_owned()));
            }
            Err(error @ (ReadError::Missing | ReadError::Leaves | ReadError::Io(_))) => {
                return Err(ReadFault::Transient(error.to_string()));
            }
        };
        if is_lfs_pointer(&bytes) {
            let reason = "it is a Git LFS pointer; LFS content is not fetched";
            return Err(ReadFault::Permanent(reason.to_owned()));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| ReadFault::Permanent("it is not UTF-8 text; save it as UTF-8".to_owned()))?;
        // Postgres can't store NUL in text.
        Ok(if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text })
    }

    /// Parses a text into its row; returns whether its frontmatter alone would publish it.
    fn parse(&self, row: &mut FileRow, path: &RelPath, text: &str) -> bool {
        row.digest = Some(hash(text.as_bytes()));
        let mut is_published_by_frontmatter = false;
        match document::read(self.ontology, self.publishing, path, text) {
            Err(fault) => row.reason = Some(fault.to_string()),
            Ok(document) => {
                row.content_type = document.content_type;
                is_published_by_frontmatter = document.is_published_by_frontmatter;
                row.state = match document.visibility {
                    Visibility::Published => FileState::Published,
                    Visibility::Draft => FileState::Draft,
                    Visibility::Unpublished => FileState::Unpublished,
                };
                let faults: Vec<_> = (document.faults.iter())
                    .map(|fault| {
                        let line = frontmatter::line_of(text, &fault.field);
                        json!({ "field": fault.field, "line": line, "message": fault.message })
                    })
                    .collect();
                row.faults = (!faults.is_empty()).then(|| json!(faults).to_string());
            }
        }
        if row.state == FileState::Published
            && let Err(error) = Key::raw(path)
        {
            row.state = FileState::Skipped;
            row.reason = Some(error.to_string());
            is_published_by_frontmatter = false;
        }
        is_published_by_frontmatter
    }

    fn excluded(&self, path: &RelPath) -> Option<String> {
        if let Some(reason) = hidden(path) {
            return Some(reason.to_owned());
        }
        let below = excluded_by(path, self.exclude)?;
        Some(format!("it is excluded by {below} in knowledge.exclude"))
    }
}

/// Why a document is hidden, if it is.
pub fn hidden(path: &RelPath) -> Option<&'static str> {
    let is_hidden = path.as_str().split('/').any(|part| part.starts_with('.'));
    is_hidden.then_some("it is hidden: its name or that of a folder begins with a dot")
}

/// Why a file can't be read.
#[derive(Debug)]
pub(crate) enum ReadFault {
    /// Permanent until the file changes.
    Permanent(String),
    /// Transient; retried.
    Transient(String),
}

fn is_lfs_pointer(bytes: &[u8]) -> bool {
    bytes.starts_with(b"version https://git-lfs.github.com/spec/v1\n")
}
