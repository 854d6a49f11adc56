//! Plans a sync: the difference between stored state and snapshot. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lyceum_content::knowledge::is_document_extension;
use lyceum_model::RelPath;
use lyceum_source::{Extent, FileMeta, Problem, Reason, Snapshot};
use lyceum_store::documents::{FileRow, FileState};

/// Files to read and to remove.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Files that are new, changed or due for a retry.
    pub read: Vec<RelPath>,
    /// Files that were removed.
    pub gone: Vec<String>,
    /// Files that exist and are excluded or unreadable.
    pub excluded: Vec<FileRow>,
}

/// Extensions of template engines.
const TEMPLATE_EXTENSIONS: &[&str] = &[
    "dist",
    "eex",
    "ejs",
    "erb",
    "gotmpl",
    "handlebars",
    "hbs",
    "in",
    "j2",
    "jinja",
    "jinja2",
    "liquid",
    "mako",
    "mustache",
    "njk",
    "template",
    "tmpl",
    "tpl",
    "twig",
];

/// Whether a file is a document: `.md`, `.mdx` or `.markdown`.
pub fn is_document(path: &RelPath) -> bool {
    has_document_extension(path.name())
}

fn has_document_extension(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && is_document_extension(extension))
}

/// Files that a template engine makes documents of, such as `index.md.erb`, with the reason why they are not served.
pub fn templates(snapshot: &Snapshot) -> impl Iterator<Item = (&RelPath, String)> {
    snapshot.files().keys().filter_map(|path| {
        let (stem, extension) = path.name().rsplit_once('.')?;
        let is_template = TEMPLATE_EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension));
        (is_template && has_document_extension(stem)).then(|| {
            let reason =
                format!("it is a template (.{extension}), not a document; render it and serve the result");
            (path, reason)
        })
    })
}

/// Number of files outside of excluded folders that are neither documents nor templates of some, by extension.
pub(crate) fn other_files(snapshot: &Snapshot, exclude: &[RelPath]) -> BTreeMap<String, usize> {
    let is_template: BTreeSet<&RelPath> = templates(snapshot).map(|(path, _)| path).collect();
    let is_other = |path: &&RelPath| {
        !is_document(path) && !is_template.contains(path) && excluded_by(path, exclude).is_none()
    };
    let mut counts = BTreeMap::new();
    for path in snapshot.files().keys().filter(is_other) {
        *counts.entry(path.extension().to_ascii_lowercase()).or_default() += 1;
    }
    counts
}

/// The excluded folder or file that a path is in.
pub(crate) fn excluded_by<'a>(path: &RelPath, exclude: &'a [RelPath]) -> Option<&'a RelPath> {
    exclude.iter().find(|folder| *folder == path || path.below(folder).is_some())
}

/// The documents of a snapshot.
pub(crate) fn documents(snapshot: &Snapshot) -> impl Iterator<Item = (&RelPath, &FileMeta)> {
    snapshot.files().iter().filter(|(path, _)| is_document(path))
}

/// Compares the stored files with a snapshot.
pub(crate) fn plan(known: &BTreeMap<String, FileRow>, snapshot: &Snapshot, now: Timestamp) -> Plan {
    let is_known = |path: &RelPath, meta: &FileMeta| {
        let Some(row) = known.get(path.as_str()) else { return false };
        let same = row.stamp.is_some() && row.stamp == meta.stamp.durable();
        match row.state {
            // Without a due time the retries are exhausted; then every sync tries again.
            FileState::Failed => same && row.due.is_some_and(|due| due > now),
            _ => same,
        }
    };
    let read = documents(snapshot)
        .filter(|(path, meta)| !is_known(path, meta))
        .map(|(path, _)| path.clone())
        .collect();
    let excluded: BTreeMap<String, FileRow> = skipped(snapshot).collect();
    let is_there = |path: &str| {
        excluded.contains_key(path)
            || RelPath::parse(path)
                .is_ok_and(|path| snapshot.files().contains_key(&path) && is_document(&path))
    };
    let (hidden, gone): (Vec<&FileRow>, Vec<&FileRow>) = known
        .values()
        .filter(|row| !is_there(&row.path))
        .partition(|row| is_below_unreadable(snapshot, &row.path));
    let excluded = excluded.into_values().chain(hidden.into_iter().map(unreadable_row));
    let excluded = excluded.filter(|row| known.get(&row.path) != Some(row)).collect();
    Plan { read, gone: gone.into_iter().map(|row| row.path.clone()).collect(), excluded }
}

/// Whether a file is below an unreadable folder, so that it may still exist.
fn is_below_unreadable(snapshot: &Snapshot, path: &str) -> bool {
    let unreadable = |problem: &&Problem| matches!(problem.reason, Reason::Unreadable(_));
    snapshot.problems().iter().filter(unreadable).any(|problem| {
        path.strip_prefix(&problem.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// The row of a file below an unreadable folder; its published document stays.
fn unreadable_row(row: &FileRow) -> FileRow {
    FileRow {
        state: FileState::Failed,
        reason: Some("its folder can't be read".to_owned()),
        due: None,
        ..row.clone()
    }
}

/// Documents that a snapshot excludes, and folders, which may contain some. The path of a folder ends with `/`.
pub fn excluded_documents(snapshot: &Snapshot) -> impl Iterator<Item = (String, &Reason)> {
    snapshot.problems().iter().filter_map(|problem| match problem.extent {
        Extent::Folder => Some((format!("{}/", problem.path), &problem.reason)),
        Extent::File => {
            let name = problem.path.rsplit('/').next().unwrap_or(&problem.path);
            has_document_extension(name).then(|| (problem.path.clone(), &problem.reason))
        }
    })
}

/// The excluded documents and templates as rows of skipped files.
fn skipped(snapshot: &Snapshot) -> impl Iterator<Item = (String, FileRow)> {
    let excluded = excluded_documents(snapshot).map(|(path, reason)| (path, reason.to_string()));
    let templates = templates(snapshot).map(|(path, reason)| (path.as_str().to_owned(), reason));
    excluded.chain(templates).map(|(path, reason)| {
        let row = FileRow {
            path: path.clone(),
            stamp: None,
            digest: None,
            content_type: String::new(),
            state: FileState::Skipped,
            reason: Some(reason),
            faults: None,
            attempts: 0,
            due: None,
        };
        (path, row)
    })
}
