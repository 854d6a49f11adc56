//! Skills, tested with the examples of the specification.

mod document;
mod reading;
mod routing;
mod standard;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use lyceum_model::RelPath;

use super::{Candidate, Finding, SkillIndex, candidates, read};

/// Parses a valid path.
pub(super) fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Builds the index of files given as path and text.
pub(super) fn index(files: &[(&str, &str)]) -> SkillIndex {
    let files: BTreeMap<RelPath, &str> = files.iter().map(|(name, text)| (path(name), *text)).collect();
    let read_all = |no_skills: &HashSet<RelPath>| -> Vec<_> {
        let candidates = candidates(files.keys(), no_skills).into_iter();
        candidates.map(|one: Candidate| (read(&one, files[&one.file].as_bytes()), one.file)).collect()
    };
    let none = read_all(&HashSet::new()).into_iter().filter(|((draft, _), _)| draft.is_none());
    let read: Vec<_> =
        read_all(&none.map(|(_, file)| file).collect()).into_iter().map(|(read, _)| read).collect();
    let drafts = read.iter().filter_map(|(draft, _)| draft.clone()).map(Arc::new);
    let findings: Vec<&Finding> = read.iter().flat_map(|(_, findings)| findings).collect();
    SkillIndex::new(drafts, &files, findings.into_iter())
}

/// The findings of an index, as text.
pub(super) fn findings(index: &SkillIndex) -> Vec<String> {
    index.findings.iter().map(|finding| format!("{}: {}", finding.file, finding.message)).collect()
}

/// A minimal document with the given keywords.
pub(super) fn document(keywords: &str) -> String {
    format!("---\nkeywords: [{keywords}]\ndescription: about {keywords}\n---\n\nRules for {keywords}.\n")
}
