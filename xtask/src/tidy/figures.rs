//! Sizes of files, and files without a module doc comment: printed, never a failure.

use std::fmt;

use super::TextFile;

/// Files with more lines are listed: look for a second idea in them.
const LONG_FILE_LINES: usize = 400;

/// Number of largest files to show.
const MAX_LISTED_FILES: usize = 10;

/// Statistics of a set of source files.
pub(super) struct Figures<'a> {
    /// Lines and path, longest first.
    by_size: Vec<(usize, &'a str)>,
    /// Files that do not start with `//!`.
    undocumented: Vec<&'a str>,
}

impl<'a> Figures<'a> {
    /// Measures the files.
    pub(super) fn of(sources: &'a [TextFile]) -> Self {
        let mut by_size: Vec<_> =
            sources.iter().map(|file| (file.text.lines().count(), file.path.as_str())).collect();
        by_size.sort_by_key(|&(lines, path)| (std::cmp::Reverse(lines), path));
        let undocumented = sources.iter().filter(|file| !file.text.starts_with("//!"));
        Self { by_size, undocumented: undocumented.map(|file| file.path.as_str()).collect() }
    }

    fn median(&self) -> usize {
        self.by_size.get(self.by_size.len() / 2).map_or(0, |(lines, _)| *lines)
    }
}

impl fmt::Display for Figures<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: usize = self.by_size.iter().map(|(lines, _)| lines).sum();
        write!(out, "{} files, {total} lines, median {}", self.by_size.len(), self.median())?;
        write!(out, "\nlargest:")?;
        for (lines, path) in self.by_size.iter().take(MAX_LISTED_FILES) {
            write!(out, "\n  {lines:>5}  {path}")?;
        }
        let long = self.by_size.iter().take_while(|(lines, _)| *lines > LONG_FILE_LINES);
        write!(out, "\nover {LONG_FILE_LINES} lines:{}", listed(long.map(|(_, path)| *path)))?;
        write!(out, "\nnot starting with `//!`:{}", listed(self.undocumented.iter().copied()))
    }
}

fn listed<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let lines: String = paths.map(|path| format!("\n  {path}")).collect();
    if lines.is_empty() { " none".to_owned() } else { lines }
}

#[cfg(test)]
mod tests;
