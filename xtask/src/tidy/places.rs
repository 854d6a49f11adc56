//! A dependency that only a few modules may name, so that it stays replaceable. Functions that are restricted to a few
//! modules are in `clippy.toml`.

use super::TextFile;

/// The name.
const WORD: &str = "rmcp";

/// The modules that may name it, without `.rs`: the file of that name, and everything in the folder of that name.
const MODULES: &[&str] = &["crates/lyceum-tools/src/mcp", "crates/lyceum/src/mcp"];

/// Lines in other modules that contain the name.
pub(super) fn faults(sources: &[TextFile]) -> Vec<String> {
    let crates = sources.iter().filter(|file| file.path.starts_with("crates/"));
    crates
        .filter(|file| !MODULES.iter().any(|module| is_within(&file.path, module)))
        .flat_map(in_file)
        .collect()
}

fn in_file(file: &TextFile) -> impl Iterator<Item = String> {
    let lines = file.text.lines().zip(1..).filter(|(line, _)| has_word(line, WORD));
    lines.map(|(_, number)| {
        format!(
            "{}:{number}: `{WORD}` may not be named here: use the types re-exported by lyceum-tools::mcp, or move the code there",
            file.path
        )
    })
}

fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// Whether the line contains the word, and not as part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(in_name) && !after.is_some_and(in_name)
    })
}

#[cfg(test)]
mod tests;
