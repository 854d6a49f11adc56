//! `lyceum lint`: validates the documents of a knowledge base, for their authors.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use lyceum_content::{
    document::{self, Visibility},
    frontmatter,
    ontology::Ontology,
};
use lyceum_knowledge::{MAX_DOCUMENT_BYTES, excluded_documents, hidden, is_document, templates};
use lyceum_source::Folder;

/// The label of files that the server skips, in the summary.
const SKIPPED_STATE: &str = "skipped";

/// Prints file, line and fix for each invalid document.
pub(super) fn lint(folder: &Path, ontology: Option<&Path>) -> anyhow::Result<ExitCode> {
    let ontology = match ontology {
        None => Ontology::standard()?,
        Some(file) => {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
            Ontology::parse(&text)?
        }
    };
    let snapshot = Folder::new(folder).snapshot()?;
    let publishing = lyceum_knowledge::recognise_publishing(&ontology, &snapshot);
    let mut out = io::stdout().lock();
    let (mut counts, mut invalid) = (BTreeMap::<&str, usize>::new(), 0);
    for path in snapshot.files().keys().filter(|path| is_document(path)) {
        if let Some(reason) = hidden(path) {
            writeln!(out, "{path}: {reason}")?;
            *counts.entry(SKIPPED_STATE).or_default() += 1;
            continue;
        }
        let text = snapshot.read(path, MAX_DOCUMENT_BYTES).map_err(|error| error.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned()));
        let document = text.as_deref().map_err(Clone::clone);
        let document = document.and_then(|text| {
            document::read(&ontology, publishing, path, text).map_err(|fault| fault.to_string())
        });
        let (kind, faults) = match &document {
            Ok(document) => (label(document.visibility), document.faults.len()),
            Err(reason) => {
                writeln!(out, "{path}:1: {reason}")?;
                ("not readable", 1)
            }
        };
        for fault in document.iter().flat_map(|document| &document.faults) {
            let line = frontmatter::line_of(text.as_deref().unwrap_or_default(), &fault.field);
            writeln!(out, "{path}:{line}: {}: {}", fault.field, fault.message)?;
        }
        *counts.entry(kind).or_default() += 1;
        invalid += usize::from(faults > 0);
    }
    for (path, reason) in excluded_documents(&snapshot) {
        writeln!(out, "{path}: {reason}")?;
        *counts.entry(SKIPPED_STATE).or_default() += 1;
        invalid += usize::from(!reason.is_deliberate());
    }
    for (path, reason) in templates(&snapshot) {
        writeln!(out, "{path}: {reason}")?;
        *counts.entry(SKIPPED_STATE).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let counts: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    writeln!(out, "{total} documents: {}; {invalid} with errors", counts.join(", "))?;
    Ok(if invalid == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn label(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Published => "published",
        Visibility::Draft => "drafts",
        Visibility::Unpublished => "unpublished",
    }
}
