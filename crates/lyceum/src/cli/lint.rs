//! `lyceum lint`: validates the documents of a knowledge base, for their authors.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context;
use lyceum_content::{
    document::{self, Publishing, Visibility},
    frontmatter,
    ontology::Ontology,
};
use lyceum_knowledge::{
    MAX_DOCUMENT_BYTES, excluded_documents, hidden, is_document, recognise_publishing, templates,
};
use lyceum_model::RelPath;
use lyceum_source::{Folder, Snapshot};
use serde::Serialize;

use crate::finding::{Finding, Listing, counted, lines};

/// The arguments of `lyceum lint`.
#[derive(Debug, clap::Args)]
pub(super) struct LintArgs {
    /// Folder of the documents
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Ontology file with the document types [default: the built-in ontology]
    #[arg(long, value_name = "FILE")]
    ontology: Option<PathBuf>,
    /// List every finding, instead of one line for the same finding about many files
    #[arg(long)]
    all: bool,
    /// Print JSON: documents, states, withErrors, and findings with path, line, field and message
    #[arg(long)]
    json: bool,
}

/// The result. Its keys are stable.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    documents: usize,
    /// Number of documents in each state.
    states: BTreeMap<State, usize>,
    with_errors: usize,
    findings: Vec<Finding>,
}

/// The state of a file, in the order of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Draft,
    Unreadable,
    Published,
    Skipped,
    Unpublished,
}

/// Prints file, line and fix for each invalid document.
pub(super) fn lint(args: &LintArgs) -> anyhow::Result<ExitCode> {
    let ontology = match &args.ontology {
        None => Ontology::standard()?,
        Some(file) => {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
            Ontology::parse(&text)?
        }
    };
    let report = Report::of(&ontology, &Folder::new(&args.folder).snapshot()?);
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        out.write_all(lines(&report.findings, Listing::of(args.all)).as_bytes())?;
        writeln!(out, "{}", report.summary())?;
    }
    Ok(if report.with_errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Report {
    fn of(ontology: &Ontology, snapshot: &Snapshot) -> Self {
        let mut report = Self::default();
        let publishing = recognise_publishing(ontology, snapshot);
        for path in snapshot.files().keys().filter(|path| is_document(path)) {
            match hidden(path) {
                Some(reason) => report.skip(path.as_str(), reason.to_string()),
                None => report.read(ontology, publishing, snapshot, path),
            }
        }
        for (path, reason) in templates(snapshot) {
            report.skip(&path.to_string(), reason.to_string());
        }
        for (path, reason) in excluded_documents(snapshot) {
            report.with_errors += usize::from(!reason.is_deliberate());
            report.skip(&path.to_string(), reason.to_string());
        }
        report.documents = report.states.values().sum();
        report
    }

    fn read(&mut self, ontology: &Ontology, publishing: Publishing, snapshot: &Snapshot, path: &RelPath) {
        let text = snapshot.read(path, MAX_DOCUMENT_BYTES).map_err(|error| error.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned()));
        let read = |text| document::read(ontology, publishing, path, text).map_err(|fault| fault.to_string());
        let document = match text.as_deref().map_err(Clone::clone).and_then(read) {
            Ok(document) => document,
            Err(reason) => {
                self.count(State::Unreadable);
                self.with_errors += 1;
                return self.find(path.as_str(), Some(1), None, reason);
            }
        };
        self.count(match document.visibility {
            Visibility::Published => State::Published,
            Visibility::Draft => State::Draft,
            Visibility::Unpublished => State::Unpublished,
        });
        self.with_errors += usize::from(!document.faults.is_empty());
        for fault in document.faults {
            let line = frontmatter::line_of(text.as_deref().unwrap_or_default(), &fault.field);
            self.find(path.as_str(), Some(line), Some(fault.field.to_string()), fault.message.to_string());
        }
    }

    fn skip(&mut self, path: &str, reason: String) {
        self.count(State::Skipped);
        self.find(path, None, None, reason);
    }

    fn count(&mut self, state: State) {
        *self.states.entry(state).or_default() += 1;
    }

    fn find(&mut self, path: &str, line: Option<usize>, field: Option<String>, message: String) {
        self.findings.push(Finding { severity: "", path: path.to_owned(), line, field, message });
    }

    fn summary(&self) -> String {
        if self.documents == 0 {
            return "no documents (markdown files) found".to_owned();
        }
        let of_state = |(state, count): (&State, &usize)| match state {
            State::Draft => counted(*count, "draft", "drafts"),
            State::Unreadable => format!("{count} not readable"),
            State::Published => format!("{count} published"),
            State::Skipped => format!("{count} skipped"),
            State::Unpublished => format!("{count} unpublished"),
        };
        let states: Vec<String> = self.states.iter().map(of_state).collect();
        let documents = counted(self.documents, "document", "documents");
        format!("{documents}: {}; {} with errors", states.join(", "), self.with_errors)
    }
}
