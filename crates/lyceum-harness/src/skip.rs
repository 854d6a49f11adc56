//! Tests that can't run on a machine record that in a file, so that they don't count as passed.
//!
//! One line per test: its name, a tab, and the reason. `cargo xtask test` sets the file and lists its contents.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

/// The variable with the path of the file.
pub const FILE: &str = "LYCEUM_TEST_SKIPS";

/// Records that this test, or a part of it, can't run on this machine, and why.
#[expect(clippy::panic, reason = "a silently skipped test would count as passed")]
pub fn skipped(why: &str) {
    let (test, why) = (test(), why.replace(['\n', '\t'], " "));
    eprintln!("skipped: {test}: {why}");
    if let Err(error) = note(&test, &why) {
        panic!("could not write to the file that {FILE} names: {error}");
    }
}

fn note(test: &str, why: &str) -> io::Result<()> {
    let Some(file) = std::env::var_os(FILE) else { return Ok(()) };
    // A single write: tests that run concurrently append to the same file.
    OpenOptions::new().create(true).append(true).open(file)?.write_all(format!("{test}\t{why}\n").as_bytes())
}

/// The name of the current test: from nextest, or else from the name of its thread.
fn test() -> String {
    let thread = std::thread::current();
    std::env::var("NEXTEST_TEST_NAME").unwrap_or_else(|_| thread.name().unwrap_or("a test").to_owned())
}
