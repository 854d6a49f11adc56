//! `cargo xtask tidy`: checks the layout of the code.
//!
//! The rules are pure functions over text; only this file reads the disk. Sizes are printed, never judged: a number
//! can't tell whether a file holds a second idea.

mod figures;
mod layers;
mod names;
mod places;
mod refusals;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use figures::Figures;
use lyceum_harness::repo::Repo;

/// Folders of cargo, npm and pip.
const NOT_OURS: &[&str] = &["target", "node_modules", ".venv", "results"];

/// A text file of the repository.
struct TextFile {
    /// `/`-separated, from the root of the repository.
    path: String,
    text: String,
}

/// Checks the repository and prints the sizes of files.
pub(crate) fn run(repo: &Repo) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "xtask"] {
        read_below(&repo.path(folder), folder, &mut files)?;
    }
    let (manifests, sources): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.path.ends_with(".toml"));
    println!("{}", Figures::of(&sources));

    let mut faults = layers::faults(&manifests)?;
    faults.extend(places::faults(&sources));
    faults.extend(names::faults(&sources));
    let table = repo.path(refusals::TABLE);
    let table = fs::read_to_string(table).with_context(|| format!("could not read {}", refusals::TABLE))?;
    faults.extend(refusals::faults(&table, &sources, |path| repo.path(path).is_file()));
    if faults.is_empty() {
        return Ok(());
    }
    bail!("{} errors:\n  {}", faults.len(), faults.join("\n  "))
}

/// Collects `Cargo.toml` and `*.rs`, in the same order on every machine.
fn read_below(folder: &Path, name: &str, files: &mut Vec<TextFile>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {name}"))?;
    let mut entries =
        entries.collect::<Result<Vec<_>, _>>().with_context(|| format!("could not read {name}"))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{name}/{file_name}");
        if entry.path().is_dir() {
            if !NOT_OURS.contains(&file_name.as_str()) {
                read_below(&entry.path(), &path, files)?;
            }
        } else if file_name == "Cargo.toml" || file_name.ends_with(".rs") {
            let text = fs::read_to_string(entry.path()).with_context(|| format!("could not read {path}"))?;
            files.push(TextFile { path, text });
        }
    }
    Ok(())
}

/// Creates a file for a test.
#[cfg(test)]
fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}
