//! File names that are not allowed, because they say nothing about the contents.

use super::TextFile;

/// Words that fit any content.
const EMPTY_WORDS: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager"];

/// Files and folders with such a name.
pub(super) fn faults(sources: &[TextFile]) -> Vec<String> {
    sources.iter().filter_map(|file| fault(&file.path)).collect()
}

fn fault(path: &str) -> Option<String> {
    if let Some(folder) = path.strip_suffix("/mod.rs") {
        return Some(format!("{path}: rename it to {folder}.rs, beside its folder"));
    }
    let mut stems = path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    let word = stems.find(|stem| EMPTY_WORDS.contains(stem))?;
    Some(format!(
        "{path}: `{word}` says nothing; name it after the one idea in it, with a word of the glossary"
    ))
}

#[cfg(test)]
mod tests;
