//! Tests that can't run on a machine say so in a file, so that nobody takes them for passed.
//!
//! One line for each: the test, a tab, and why. `cargo xtask test` names the file and lists what is in it.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

/// The variable that names the file.
pub const FILE: &str = "LYCEUM_TEST_SKIPS";

/// Says that this test, or a part of it, can't run on this machine, and why.
#[expect(clippy::panic, reason = "a test that is skipped in silence would count as passed")]
pub fn skipped(why: &str) {
    let (test, why) = (test(), why.replace(['\n', '\t'], " "));
    eprintln!("skipped: {test}: {why}");
    if let Err(error) = note(&test, &why) {
        panic!("could not write to the file that {FILE} names: {error}");
    }
}

fn note(test: &str, why: &str) -> io::Result<()> {
    let Some(file) = std::env::var_os(FILE) else { return Ok(()) };
    // One call: tests that run at the same time add their lines to the same file.
    OpenOptions::new().create(true).append(true).open(file)?.write_all(format!("{test}\t{why}\n").as_bytes())
}

/// nextest says which test a process runs; without it, a test has a thread of its name.
fn test() -> String {
    let thread = std::thread::current();
    std::env::var("NEXTEST_TEST_NAME").unwrap_or_else(|_| thread.name().unwrap_or("a test").to_owned())
}
