//! What a service serves, and what it leaves out and why, as `lyceum serve` and `lyceum init` show it.

use std::{cmp::Reverse, collections::BTreeMap};

use lyceum_model::SourceName;

use crate::finding::counted;

/// Maximum number of reasons to list; the rest is counted together.
const MAX_REASONS: usize = 6;

/// What a service serves and leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// The name of its source.
    pub source: SourceName,
    /// What is served, such as `241 documents`, or why nothing is.
    pub served: String,
    /// What is left out: a line per reason, with what to do about it.
    pub left_out: Vec<String>,
}

/// Files and folders that are left out, by reason.
#[derive(Debug, Default)]
pub(crate) struct Omissions(BTreeMap<String, Count>);

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    files: usize,
    folders: usize,
}

impl Omissions {
    /// Adds a file, or a folder if the path ends with a slash. The reason is a sentence about it, such as `it is hidden`.
    pub(crate) fn add(&mut self, path: &str, reason: &str) {
        let reason = reason.strip_prefix("it is ").unwrap_or(reason);
        let count = self.0.entry(reason.to_owned()).or_default();
        *if path.ends_with('/') { &mut count.folders } else { &mut count.files } += 1;
    }

    /// A line per reason, the most frequent first.
    pub(crate) fn lines(self) -> Vec<String> {
        let mut reasons: Vec<(String, Count)> = self.0.into_iter().collect();
        reasons.sort_by_key(|(_, count)| Reverse(count.files + count.folders));
        let rest = reasons.split_off(reasons.len().min(MAX_REASONS));
        let mut lines: Vec<String> =
            reasons.iter().map(|(reason, count)| format!("{}: {reason}", count.text())).collect();
        if !rest.is_empty() {
            let sum = rest.iter().fold(Count::default(), |sum, (_, count)| Count {
                files: sum.files + count.files,
                folders: sum.folders + count.folders,
            });
            lines.push(format!("{}: other reasons; lyceum doctor lists them", sum.text()));
        }
        lines
    }
}

impl Count {
    fn text(self) -> String {
        let files = (self.files > 0).then(|| counted(self.files, "file", "files"));
        let folders = (self.folders > 0).then(|| counted(self.folders, "folder", "folders"));
        files.into_iter().chain(folders).collect::<Vec<_>>().join(" and ")
    }
}

/// The most frequent names with their counts, such as `20 .png, 12 .pdf and 3 others`.
pub(crate) fn most_frequent<N: AsRef<str>>(
    counts: impl IntoIterator<Item = (N, usize)>,
    max: usize,
) -> String {
    let mut counts: Vec<(N, usize)> = counts.into_iter().collect();
    counts.sort_by(|(one, first), (other, second)| second.cmp(first).then(one.as_ref().cmp(other.as_ref())));
    let rest: usize = counts.iter().skip(max).map(|(_, count)| count).sum();
    let named: Vec<String> =
        counts.iter().take(max).map(|(name, count)| format!("{count} {}", name.as_ref())).collect();
    let others = if rest > 0 { format!(" and {}", counted(rest, "other", "others")) } else { String::new() };
    format!("{}{others}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_by_reason() {
        let mut omissions = Omissions::default();
        omissions.add("a.md", "it is larger than 8 MiB; split it");
        omissions.add(".cache/", "it is hidden: its name begins with a dot");
        omissions.add(".b.md", "it is hidden: its name begins with a dot");
        omissions.add(".c.md", "it is hidden: its name begins with a dot");
        assert_eq!(
            omissions.lines(),
            [
                "2 files and 1 folder: hidden: its name begins with a dot",
                "1 file: larger than 8 MiB; split it"
            ]
        );
    }

    #[test]
    fn many_reasons_are_cut_short() {
        let mut omissions = Omissions::default();
        for number in 0..10 {
            omissions.add("a.md", &format!("invalid YAML on line {number}"));
        }
        let lines = omissions.lines();
        assert_eq!(lines.len(), MAX_REASONS + 1);
        assert_eq!(lines[MAX_REASONS], "4 files: other reasons; lyceum doctor lists them");
    }

    #[test]
    fn the_most_frequent_names_come_first() {
        let counts = [(".css", 1), (".pdf", 12), (".png", 20), (".svg", 2)];
        assert_eq!(most_frequent(counts, 2), "20 .png, 12 .pdf and 3 others");
        assert_eq!(most_frequent(counts, 9), "20 .png, 12 .pdf, 2 .svg, 1 .css");
    }
}
