//! `cargo xtask deny`: checks dependencies for advisories, licenses, sources and duplicates, with `cargo deny`.
//!
//! The advisory database is a Git repository on the Internet. If it can't be reached, that check is skipped, and
//! reported.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use lyceum_harness::process::succeed;
use lyceum_harness::repo::Repo;

use crate::test::Skip;

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Timeout of building it, once.
const BUILD_TIMEOUT: Duration = Duration::from_secs(1800);

/// Timeout of one check, and of fetching the database.
const CHECK_TIMEOUT: Duration = Duration::from_secs(300);

/// Runs all checks; returns what was skipped.
pub(crate) fn run(repo: &Repo) -> Result<Vec<Skip>> {
    let deny = ensure(repo)?;
    check(repo, &deny, &["check", "--hide-inclusion-graph", "bans", "licenses", "sources"])?;
    if check(repo, &deny, &["fetch", "db"]).is_err() {
        let (what, why) = ("security advisories of dependencies", "the advisory database can't be reached");
        return Ok(vec![Skip { what: what.to_owned(), why: why.to_owned() }]);
    }
    check(repo, &deny, &["--offline", "check", "--hide-inclusion-graph", "advisories"])?;
    Ok(Vec::new())
}

/// The program, built once into the target folder: the machine may have none or another version.
fn ensure(repo: &Repo) -> Result<PathBuf> {
    let root = repo.path("target/tools").join(format!("cargo-deny-{VERSION}"));
    let program = root.join("bin/cargo-deny");
    if program.is_file() {
        return Ok(program);
    }
    println!("   building cargo-deny {VERSION} into target/tools");
    let mut install = repo.command("cargo");
    install.args(["install", "--quiet", "--locked", "--debug", "cargo-deny", "--version", VERSION, "--root"]);
    succeed(install.arg(&root), BUILD_TIMEOUT)?;
    Ok(program)
}

fn check(repo: &Repo, deny: &Path, words: &[&str]) -> Result<()> {
    let program = deny.to_str().context("the path of the target folder is not UTF-8")?;
    succeed(repo.command(program).args(["--log-level", "error"]).args(words), CHECK_TIMEOUT)
}
