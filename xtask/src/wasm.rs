//! Checks that the crates that must run at the edge compile for WebAssembly.
//!
//! Uses the default compiler if it has the target (`rustup target add wasm32-unknown-unknown`). Otherwise Debian's
//! package is unpacked below `target/tools`, without root. It contains the source of the standard library, so cargo
//! checks that too.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use lyceum_harness::process::succeed;
use lyceum_harness::repo::Repo;

use crate::test::Skip;

const TARGET: &str = "wasm32-unknown-unknown";

/// The crates without a runtime.
const CRATES: [&str; 3] = ["lyceum-model", "lyceum-content", "lyceum-tools"];

/// Debian's compiler, its source, and its libraries; the version of the standard library is part of a package name.
const PACKAGES: [&str; 4] = ["rustc-web", "rust-web-src", "libstd-rust-web-dev", "libllvm22"];

/// Timeout of a download, and of one check.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Checks the crates; skips the check if there is no compiler.
pub(crate) fn run(repo: &Repo) -> Result<Vec<Skip>> {
    let mut check = repo.command("cargo");
    check.args(["check", "--target", TARGET]).args(CRATES.iter().flat_map(|name| ["-p", name]));
    if !has_target(repo) {
        let compiler = match debian(repo) {
            Ok(compiler) => compiler,
            Err(error) => {
                let why = format!("no compiler for {TARGET} ({error:#}); run: rustup target add {TARGET}");
                return Ok(vec![Skip { what: "wasm32".to_owned(), why }]);
            }
        };
        check.args(["-Zbuild-std=std,panic_abort", "--target-dir"]).arg(repo.path("target/wasm"));
        check.env("RUSTC", compiler.join("usr/bin/rustc")).env("RUSTC_BOOTSTRAP", "1");
        check.env("LD_LIBRARY_PATH", compiler.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH)));
        // Flags for the default compiler may not work with another one.
        check.env_remove("RUSTFLAGS");
    }
    succeed(&mut check, TIMEOUT)?;
    Ok(Vec::new())
}

/// Whether the default compiler has the standard library for the target.
fn has_target(repo: &Repo) -> bool {
    let output = repo.command("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// The folder of Debian's compiler, downloaded and unpacked once.
fn debian(repo: &Repo) -> Result<PathBuf> {
    let root = repo.path("target/tools/rustc-web");
    let (packages, unpacked) = (root.with_extension("debs"), root.join("unpacked"));
    if unpacked.is_file() {
        return Ok(root);
    }
    fs::create_dir_all(&packages).with_context(|| format!("could not make {}", packages.display()))?;
    println!("   unpacking Debian's rustc-web into target/tools");
    let mut names: Vec<String> = PACKAGES.iter().map(|&name| name.to_owned()).collect();
    names.push(library(repo)?);
    succeed(
        repo.command("apt-get").args(["--quiet", "download"]).args(names).current_dir(&packages),
        TIMEOUT,
    )?;
    for entry in fs::read_dir(&packages)? {
        succeed(repo.command("dpkg-deb").arg("--extract").arg(entry?.path()).arg(&root), TIMEOUT)?;
    }
    fs::remove_dir_all(&packages)?;
    fs::write(&unpacked, "")?;
    Ok(root)
}

/// The package of the standard library, such as `libstd-rust-web-1.96`.
fn library(repo: &Repo) -> Result<String> {
    let output = repo.command("apt-cache").args(["depends", "libstd-rust-web-dev"]).output();
    let output = output.context("apt-cache is not installed")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    let mut ours = names.filter(|name| name.starts_with("libstd-rust-web-"));
    ours.next().map(str::to_owned).context("apt knows no package rustc-web")
}
