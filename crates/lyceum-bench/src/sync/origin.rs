//! A bare repository created from a bundle, and a working clone to edit it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;

/// Timeout of a Git command.
const GIT_TIMEOUT: Duration = Duration::from_secs(300);

/// One file in this many is edited.
const EDIT_STRIDE: usize = 100;

/// The branch of all bundles.
pub(super) const BRANCH: &str = "main";

/// Git settings, independent of the machine's configuration.
const GIT_CONFIG: [&str; 5] = [
    "user.name=bench",
    "user.email=bench@example.org",
    "commit.gpgSign=false",
    "core.autocrlf=false",
    "init.defaultBranch=main",
];

/// A bare repository and a working clone.
pub(super) struct Origin {
    pub(super) bare: PathBuf,
    work: PathBuf,
    /// Folder for command outputs.
    outputs: PathBuf,
    edits: usize,
}

impl Origin {
    /// Clones a bundle, and keeps at most `max_documents` documents.
    pub(super) fn of(bundle: &Path, scratch: &Scratch, max_documents: Option<usize>) -> Result<Self> {
        let folder = scratch.path();
        let (bare, work) = (folder.join("origin.git"), folder.join("work"));
        let origin = Self { bare, work, outputs: scratch.folder("outputs")?, edits: 0 };
        let clone = |bare: &[&str], from: &Path, to: &Path| {
            let mut command = git(folder);
            command.args(["clone", "--quiet"]).args(bare).args([from, to]);
            process::output(&mut command, &origin.outputs, GIT_TIMEOUT)
        };
        clone(&["--bare"], bundle, &origin.bare)?;
        clone(&[], &origin.bare, &origin.work)?;
        if let Some(count) = max_documents {
            origin.keep_documents(count)?;
        }
        Ok(origin)
    }

    /// The head commit.
    pub(super) fn head(&self) -> Result<String> {
        Ok(self.git(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// The Markdown files at the head, listed by Git.
    pub(super) fn documents(&self) -> Result<Vec<PathBuf>> {
        let listed = self.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD"])?;
        let is_document =
            |path: &&str| Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("md"));
        Ok(listed.split('\0').filter(is_document).map(PathBuf::from).collect())
    }

    /// Appends a line to one file in a hundred, other files each time, and commits; returns the number of files.
    pub(super) fn edit(&mut self) -> Result<usize> {
        self.edits += 1;
        let line = format!("\nEdited for the {}. time.\n", self.edits);
        let mut edited = 0;
        for path in self.documents()?.iter().skip(self.edits % EDIT_STRIDE).step_by(EDIT_STRIDE) {
            let file = self.work.join(path);
            // Skip symbolic links: their target may be edited already, or be outside.
            if fs::symlink_metadata(&file)?.is_file() {
                let opened = OpenOptions::new().append(true).open(&file);
                let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
                written.with_context(|| format!("could not edit {}", file.display()))?;
                edited += 1;
            }
        }
        ensure!(edited > 0, "there is no file to edit");
        self.commit("Edit one file in a hundred")?;
        Ok(edited)
    }

    /// Removes documents, evenly spread, until `count` are left.
    fn keep_documents(&self, count: usize) -> Result<()> {
        let documents = self.documents()?;
        ensure!(documents.len() >= count, "there are only {} documents", documents.len());
        for (index, path) in documents.iter().enumerate() {
            // Even sampling: keep a document where `index * count / total` increases.
            if (index + 1) * count / documents.len() == index * count / documents.len() {
                let file = self.work.join(path);
                fs::remove_file(&file).with_context(|| format!("could not remove {}", file.display()))?;
            }
        }
        self.commit("Keep some documents")
    }

    fn commit(&self, message: &str) -> Result<()> {
        self.git(&["commit", "--quiet", "--all", "--message", message])?;
        self.git(&["push", "--quiet", "origin", BRANCH])?;
        Ok(())
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        process::output(git(&self.work).args(args), &self.outputs, GIT_TIMEOUT)
    }
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(GIT_CONFIG.iter().flat_map(|setting| ["-c", *setting]));
    command
}

#[cfg(test)]
mod tests;
