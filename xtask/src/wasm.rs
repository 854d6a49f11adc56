//! Checks that the crates which must also run at the edge compile for WebAssembly.
//!
//! The compiler is the usual one where it has the target (`rustup target add wasm32-unknown-unknown`). Else Debian's package is
//! unpacked below `target/tools`, which needs no root: it comes with the source of the standard library, so that cargo checks
//! that one too.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use lyceum_harness::process::succeed;
use lyceum_harness::repo::Repo;

use crate::test::Skip;

const TARGET: &str = "wasm32-unknown-unknown";

/// The crates that know no runtime.
const CRATES: [&str; 3] = ["lyceum-model", "lyceum-content", "lyceum-tools"];

/// Debian's compiler, its source, and what it is linked with; the version of its standard library is in the name of a package.
const PACKAGES: [&str; 4] = ["rustc-web", "rust-web-src", "libstd-rust-web-dev", "libllvm22"];

/// For getting a package, and for one check.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Checks the crates; says so where no compiler can be had.
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
        // Flags for this machine's own compiler may mean nothing to another one.
        check.env_remove("RUSTFLAGS");
    }
    succeed(&mut check, TIMEOUT)?;
    Ok(Vec::new())
}

/// Whether the usual compiler has the standard library for it.
fn has_target(repo: &Repo) -> bool {
    let output = repo.command("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    output.is_ok_and(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Where Debian's compiler is; got and unpacked once.
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
    let output = output.context("there is no apt-cache on this machine")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    let mut ours = names.filter(|name| name.starts_with("libstd-rust-web-"));
    ours.next().map(str::to_owned).context("apt knows no package rustc-web")
}
