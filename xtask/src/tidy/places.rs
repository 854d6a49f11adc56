//! Names that may be written in a few modules only: what they stand for must stay replaceable or easy to find.

use super::TextFile;

/// Words, the modules that may write them, and what to do elsewhere.
struct Rule {
    words: &'static [&'static str],
    /// Paths without `.rs`: the file of that name and all below the folder of that name.
    modules: &'static [&'static str],
    /// Whether the rule looks at this file at all.
    applies: fn(&str) -> bool,
    remedy: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        words: &["rmcp"],
        modules: &[
            "crates/lyceum-tools/src/mcp",
            "crates/lyceum-tools/src/upstream",
            "crates/lyceum/src/mcp",
        ],
        applies: |_| true,
        remedy: "use the types re-exported by lyceum-tools::mcp, or move the code there",
    },
    Rule {
        words: &["env::var", "env::vars", "env::var_os", "env::vars_os"],
        // What git inherits is handed on by name, and nothing of it is read.
        modules: &["crates/lyceum/src/config", "crates/lyceum-source/src/git"],
        applies: |path| !is_test(path),
        remedy: "read the variable in lyceum::config and pass the value on in `Config`",
    },
];

/// Where a word stands in a module that may not write it.
pub(super) fn faults(sources: &[TextFile]) -> Vec<String> {
    let crates = sources.iter().filter(|file| file.path.starts_with("crates/"));
    crates.flat_map(|file| RULES.iter().flat_map(|rule| rule.faults(file))).collect()
}

impl Rule {
    fn faults(&self, file: &TextFile) -> Vec<String> {
        if !(self.applies)(&file.path) || self.modules.iter().any(|module| is_within(&file.path, module)) {
            return Vec::new();
        }
        let found = file.text.lines().zip(1..).filter_map(|(line, number)| {
            let word = self.words.iter().find(|word| has_word(line, word))?;
            Some(format!("{}:{number}: `{word}` may not be named here: {}", file.path, self.remedy))
        });
        found.collect()
    }
}

fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// Test code may look at the environment: it has to find the programs under test.
fn is_test(path: &str) -> bool {
    let development = ["crates/lyceum-testkit/", "crates/lyceum-harness/", "crates/lyceum-bench/"];
    path.contains("/tests/")
        || path.ends_with("/tests.rs")
        || development.iter().any(|folder| path.starts_with(folder))
}

/// Whether `word` stands in the line and is not a part of a longer name.
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
