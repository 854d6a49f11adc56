//! `cargo xtask deny`: known holes, licences, origins and duplicates of what we depend on, by `cargo deny`.
//!
//! The database of known holes is a Git repository on the Internet. Where it can't be reached that check is skipped, and said
//! to be.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use lyceum_harness::process::succeed;
use lyceum_harness::repo::Repo;

use crate::test::Skip;

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// For building it, once.
const BUILD_TIMEOUT: Duration = Duration::from_secs(1800);

/// For one check, and for getting the database.
const CHECK_TIMEOUT: Duration = Duration::from_secs(300);

/// Runs every check; says what could not be checked.
pub(crate) fn run(repo: &Repo) -> Result<Vec<Skip>> {
    let deny = ensure(repo)?;
    check(repo, &deny, &["check", "--hide-inclusion-graph", "bans", "licenses", "sources"])?;
    if check(repo, &deny, &["fetch", "db"]).is_err() {
        let (what, why) = ("known holes in dependencies", "the advisory database can't be reached");
        return Ok(vec![Skip { what: what.to_owned(), why: why.to_owned() }]);
    }
    check(repo, &deny, &["--offline", "check", "--hide-inclusion-graph", "advisories"])?;
    Ok(Vec::new())
}

/// The program: built once into the target folder, for the machine may have none or another version.
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
    let program = deny.to_str().context("the target folder has a name that is no text")?;
    succeed(repo.command(program).args(["--log-level", "error"]).args(words), CHECK_TIMEOUT)
}
