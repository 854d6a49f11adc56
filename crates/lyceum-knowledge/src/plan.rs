//! What a sync has to read: the difference between what is known and what is there. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lyceum_model::RelPath;
use lyceum_source::{Extent, FileMeta, Problem, Reason, Snapshot};
use lyceum_store::documents::{FileRow, FileState};

/// What has to be read and forgotten.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Files that are new, changed or due to be tried again.
    pub read: Vec<RelPath>,
    /// Files that are gone.
    pub gone: Vec<String>,
    /// Files that are there and can't be read at all.
    pub left_out: Vec<FileRow>,
}

/// Whether a file is a document.
pub(crate) fn is_document(path: &RelPath) -> bool {
    path.extension().eq_ignore_ascii_case(".md")
}

/// The documents of a snapshot.
pub(crate) fn documents(snapshot: &Snapshot) -> impl Iterator<Item = (&RelPath, &FileMeta)> {
    snapshot.files().iter().filter(|(path, _)| is_document(path))
}

/// What differs from what is known.
pub(crate) fn plan(known: &BTreeMap<String, FileRow>, snapshot: &Snapshot, now: Timestamp) -> Plan {
    let is_known = |path: &RelPath, meta: &FileMeta| {
        let Some(row) = known.get(path.as_str()) else { return false };
        let same = row.stamp.is_some() && row.stamp == meta.stamp.durable();
        match row.state {
            // One that was tried often enough is not waited for, but a sync that is under way tries it again.
            FileState::Failed => same && row.due.is_some_and(|due| due > now),
            _ => same,
        }
    };
    let read = documents(snapshot)
        .filter(|(path, meta)| !is_known(path, meta))
        .map(|(path, _)| path.clone())
        .collect();
    let left_out: BTreeMap<String, FileRow> = skipped(snapshot).collect();
    let is_there = |path: &str| {
        left_out.contains_key(path)
            || RelPath::parse(path)
                .is_ok_and(|path| snapshot.files().contains_key(&path) && is_document(&path))
    };
    let (hidden, gone): (Vec<&FileRow>, Vec<&FileRow>) =
        known.values().filter(|row| !is_there(&row.path)).partition(|row| is_hidden(snapshot, &row.path));
    let left_out = left_out.into_values().chain(hidden.into_iter().map(out_of_reach));
    let left_out = left_out.filter(|row| known.get(&row.path) != Some(row)).collect();
    Plan { read, gone: gone.into_iter().map(|row| row.path.clone()).collect(), left_out }
}

/// Whether a file is below a folder that could not be read, so that it may still be there.
fn is_hidden(snapshot: &Snapshot, path: &str) -> bool {
    let unreadable = |problem: &&Problem| matches!(problem.reason, Reason::Unreadable(_));
    snapshot.problems().iter().filter(unreadable).any(|problem| {
        path.strip_prefix(&problem.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// A file that can't be reached now: what is served of it is served on.
fn out_of_reach(row: &FileRow) -> FileRow {
    FileRow {
        state: FileState::Failed,
        reason: Some("its folder can't be read".to_owned()),
        due: None,
        ..row.clone()
    }
}

/// What the source holds and a snapshot can't take: documents, and folders, in which there may be some. The path of a
/// folder ends with `/`.
pub fn left_out(snapshot: &Snapshot) -> impl Iterator<Item = (String, &Reason)> {
    snapshot.problems().iter().filter_map(|problem| match problem.extent {
        Extent::Folder => Some((format!("{}/", problem.path), &problem.reason)),
        Extent::File => {
            let (_, extension) = problem.path.rsplit_once('.')?;
            extension.eq_ignore_ascii_case("md").then(|| (problem.path.clone(), &problem.reason))
        }
    })
}

/// The same as files that are skipped.
fn skipped(snapshot: &Snapshot) -> impl Iterator<Item = (String, FileRow)> {
    left_out(snapshot).map(|(path, reason)| {
        let row = FileRow {
            path: path.clone(),
            stamp: None,
            digest: None,
            content_type: String::new(),
            state: FileState::Skipped,
            reason: Some(reason.to_string()),
            faults: None,
            attempts: 0,
            due: None,
        };
        (path, row)
    })
}
