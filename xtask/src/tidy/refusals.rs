//! The table of what sign-in must refuse. Each line must name existing tests.

use std::collections::BTreeSet;

use super::TextFile;

/// The table.
pub(super) const TABLE: &str = "docs/sign-in-refusals.md";

/// Number of lines in the table.
const LINES: usize = 66;

/// Errors in the table: names that don't exist, and missing lines. `has_file` checks whether a file exists.
pub(super) fn faults(table: &str, sources: &[TextFile], has_file: impl Fn(&str) -> bool) -> Vec<String> {
    let tests: BTreeSet<&str> = sources.iter().flat_map(|file| functions(&file.text)).collect();
    let mut faults = Vec::new();
    let mut next = 1;
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, _, _, shown_by] = cells.as_slice() else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        if number != next {
            faults.push(format!("{TABLE}: line {next} of the table is missing"));
        }
        next = number + 1;
        let names: Vec<&str> = shown_by.split('`').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            faults.push(format!("{TABLE}: no test shows line {number}"));
        }
        let is_there = |name: &str| tests.contains(name) || (name.contains('/') && has_file(name));
        for name in names.into_iter().filter(|name| !is_there(name)) {
            faults.push(format!("{TABLE}: line {number} names `{name}`, which does not exist"));
        }
    }
    if next <= LINES {
        faults.push(format!("{TABLE}: it ends before line {LINES}"));
    }
    faults
}

/// The names of the functions in a source file.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let declared =
        text.lines().filter_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("fn "));
    declared.filter_map(|rest| rest.split(['(', '<']).next())
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn check(table: &str, expected: &[&str]) {
        let sources = [file("crates/a/src/tests.rs", "#[tokio::test]\nasync fn it_is_refused() {\n")];
        let found = faults(table, &sources, |path| path == "tests/peers/a.mjs");
        let found: Vec<_> = found.iter().filter(|fault| !fault.ends_with("before line 66")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_line_names_tests_and_programs_that_are_there() {
        check("| 1 | a | b `c` | `it_is_refused` `tests/peers/a.mjs` |", &[]);
        check(
            "| 1 | a | b | `it_is_not` |",
            &["docs/sign-in-refusals.md: line 1 names `it_is_not`, which does not exist"],
        );
        check(
            "| 1 | a | b | `tests/peers/b.mjs` |",
            &["docs/sign-in-refusals.md: line 1 names `tests/peers/b.mjs`, which does not exist"],
        );
        check("| 1 | a | b | |", &["docs/sign-in-refusals.md: no test shows line 1"]);
    }

    #[test]
    fn no_line_is_left_out() {
        let table = "| 1 | a | b | `it_is_refused` |\n| | **c** | | |\n| 3 | a | b | `it_is_refused` |";
        check(table, &["docs/sign-in-refusals.md: line 2 of the table is missing"]);
        assert_eq!(
            faults(table, &[], |_| true).last().unwrap(),
            "docs/sign-in-refusals.md: it ends before line 66"
        );
    }
}
