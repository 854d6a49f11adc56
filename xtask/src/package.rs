//! `cargo xtask package`: builds packages from a compiled program and the embedding model.
//!
//! All of them hold the same: the program, the model in a folder `models` that the program finds by itself, and the
//! licences. Templates are in `packages/`.

mod deb;
mod npm;
mod wheel;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use lyceum_harness::repo::Repo;

/// Timeout of a packaging program.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The files of the model.
const MODEL_FILES: [&str; 4] = ["config.json", "lyceum-model.json", "model.onnx", "tokenizer.json"];

/// What to build, and from what.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kind of package
    kind: Kind,
    /// The compiled program
    #[arg(long, value_name = "FILE", default_value = "target/release/lyceum")]
    binary: PathBuf,
    /// The folder of the model, as `lyceum model pull` writes it
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// The platform that the program is compiled for
    #[arg(long, default_value = "linux-x64")]
    platform: Platform,
    /// The folder for packages
    #[arg(long, value_name = "FOLDER", default_value = "target/packages")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Tarballs for npm: one for the platform, and one that starts it
    Npm,
    /// A wheel for pip and uv
    Wheel,
    /// A Debian package with a systemd unit
    Deb,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Platform {
    /// Linux on x86-64
    LinuxX64,
    /// Linux on arm64
    LinuxArm64,
    /// macOS on Intel
    DarwinX64,
    /// macOS on Apple silicon
    DarwinArm64,
}

/// What every package holds, in a folder.
pub(crate) struct Stage<'a> {
    repo: &'a Repo,
    options: &'a Options,
    output: PathBuf,
}

/// Builds one kind of package.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let output = std::path::absolute(&options.output)?;
    fs::create_dir_all(&output).with_context(|| format!("cannot create {}", output.display()))?;
    ensure!(options.binary.is_file(), "{} is missing; run: cargo build --release", options.binary.display());
    let stage = Stage { repo, options, output };
    let packages = match options.kind {
        Kind::Npm => npm::build(&stage),
        Kind::Wheel => wheel::build(&stage),
        Kind::Deb => deb::build(&stage),
    }?;
    for package in packages {
        let megabytes = fs::metadata(&package)?.len() / 1_000_000;
        println!("   {} ({megabytes} MB)", package.display());
    }
    Ok(())
}

impl Stage<'_> {
    /// An empty folder for the files of a package.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.output.join("stage").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// A folder for the output of packaging programs; there after the first call of `folder`.
    fn logs(&self) -> PathBuf {
        self.output.join("stage")
    }

    /// A file of the repository.
    fn text(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.repo.path(path)).with_context(|| format!("cannot read {path}"))
    }

    /// Copies the program.
    fn program(&self, to: &Path) -> Result<()> {
        copy(&self.options.binary, to, 0o755)
    }

    /// Copies the model and its licence into a folder of models.
    fn model(&self, models: &Path) -> Result<()> {
        let from = &self.options.model;
        let card = fs::read_to_string(from.join("lyceum-model.json"));
        let card =
            card.with_context(|| format!("{} is not a model of `lyceum model pull`", from.display()))?;
        if !card.contains("\"variant\": \"int8\"") || !card.contains("\"name\": \"all-MiniLM-L6-v2\"") {
            bail!("{} is not all-MiniLM-L6-v2 in int8, whose licence the packages hold", from.display());
        }
        let to = models.join("all-MiniLM-L6-v2");
        for file in MODEL_FILES {
            copy(&from.join(file), &to.join(file), 0o644)?;
        }
        copy(&self.repo.path("LICENSE-APACHE"), &to.join("LICENSE"), 0o644)?;
        copy(&self.repo.path("packages/MODEL-NOTICE"), &to.join("NOTICE"), 0o644)
    }

    /// Copies the licences and the README.
    fn documents(&self, to: &Path) -> Result<()> {
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
            copy(&self.repo.path(file), &to.join(file), 0o644)?;
        }
        Ok(())
    }
}

/// Copies a file with these permissions, and creates its folder.
fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let about = || format!("cannot copy {} to {}", from.display(), to.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(about)?;
    fs::copy(from, to).with_context(about)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).with_context(about)
}

/// Writes a file with these permissions, and creates its folder.
fn write(to: &Path, text: &str, mode: u32) -> Result<()> {
    let about = || format!("cannot write {}", to.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(about)?;
    fs::write(to, text).with_context(about)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).with_context(about)
}
