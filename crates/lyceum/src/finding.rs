//! Findings about files, as `lyceum doctor` and `lyceum lint` print them: the same finding about many files is one line.

use std::{collections::HashMap, fmt, fmt::Write};

use serde::Serialize;

/// How many files of a group are named.
const MAX_NAMED_FILES: usize = 3;

/// How many files a group has at least.
const MIN_GROUP_FILES: usize = 3;

/// How many lines are printed without `--all`.
const MAX_LINES: usize = 30;

/// A finding about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is, such as `warning` or `skipped`; empty if the command has one severity only.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub severity: &'static str,
    /// The file.
    pub path: String,
    /// Line number, from 1, if it is about one line.
    pub line: Option<usize>,
    /// The frontmatter field, if it is about one.
    pub field: Option<String>,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    /// One line for the same finding about many files.
    Grouped,
    /// One line each.
    All,
}

impl Listing {
    /// The listing that the flag `--all` asks for.
    pub(crate) fn of(all: bool) -> Self {
        if all { Self::All } else { Self::Grouped }
    }
}

impl Finding {
    /// What findings of one group have in common.
    fn key(&self) -> (&'static str, Option<&str>, &str) {
        (self.severity, self.field.as_deref(), &self.message)
    }

    fn lead(&self) -> String {
        if self.severity.is_empty() { String::new() } else { format!("  {}  ", self.severity) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.lead(), self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": {field}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The findings as lines, each with a line break.
pub(crate) fn lines(findings: &[Finding], listing: Listing) -> String {
    let mut text = String::new();
    let groups = match listing {
        Listing::All => findings.iter().map(|finding| vec![finding]).collect(),
        Listing::Grouped => groups(findings),
    };
    let max = if listing == Listing::All { groups.len() } else { MAX_LINES };
    for group in groups.iter().take(max) {
        // Writing to memory can't fail.
        let _written = write_group(&mut text, group);
    }
    let left: usize = groups.iter().skip(max).map(Vec::len).sum();
    if left > 0 {
        let _written = writeln!(text, "  … and {left} more; --all lists every one");
    }
    text
}

/// Groups findings with the same text, if there are enough of them, in order of their first file. Others stay alone.
fn groups(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut counts = HashMap::<_, usize>::new();
    for finding in findings {
        *counts.entry(finding.key()).or_default() += 1;
    }
    let (mut positions, mut groups) = (HashMap::new(), Vec::<Vec<&Finding>>::new());
    for finding in findings {
        let is_alone = counts.get(&finding.key()).is_none_or(|count| *count < MIN_GROUP_FILES);
        let position =
            if is_alone { groups.len() } else { *positions.entry(finding.key()).or_insert(groups.len()) };
        match groups.get_mut(position) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

fn write_group(text: &mut String, group: &[&Finding]) -> fmt::Result {
    let [first, others @ ..] = group else { return Ok(()) };
    if others.is_empty() {
        return writeln!(text, "{first}");
    }
    let named: Vec<&str> = group.iter().take(MAX_NAMED_FILES).map(|finding| finding.path.as_str()).collect();
    let field = first.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
    let list = if group.len() > MAX_NAMED_FILES { "first: " } else { "" };
    let (count, message, named) = (group.len(), &first.message, named.join(", "));
    writeln!(text, "{}{count} files: {field}{message} ({list}{named})", first.lead())
}

/// A count with its noun, such as `1 source` and `2 sources`.
pub(crate) fn counted<N: fmt::Display + From<u8> + PartialEq + Copy>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests;
