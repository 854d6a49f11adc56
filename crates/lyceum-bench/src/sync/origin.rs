//! A repository as a Git server holds it, made of a bundle, and the clone that it is edited from.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;

/// The longest that one command may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(300);

/// One file in so many is edited.
const EDIT_STRIDE: usize = 100;

/// The branch of all bundles.
pub(super) const BRANCH: &str = "main";

/// What holds for every command, whatever the machine's own settings say.
const GIT_CONFIG: [&str; 5] = [
    "user.name=bench",
    "user.email=bench@example.org",
    "commit.gpgSign=false",
    "core.autocrlf=false",
    "init.defaultBranch=main",
];

/// A bare repository and a clone with its files.
pub(super) struct Origin {
    pub(super) bare: PathBuf,
    work: PathBuf,
    /// For what commands write.
    outputs: PathBuf,
    edits: usize,
}

impl Origin {
    /// Clones a bundle twice, and leaves so many documents of it.
    pub(super) fn of(bundle: &Path, scratch: &Scratch, most: Option<usize>) -> Result<Self> {
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
        if let Some(most) = most {
            origin.leave(most)?;
        }
        Ok(origin)
    }

    /// The commit at the head.
    pub(super) fn head(&self) -> Result<String> {
        Ok(self.git(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// The markdown files at the head, by Git's own word.
    pub(super) fn documents(&self) -> Result<Vec<PathBuf>> {
        let listed = self.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD"])?;
        let is_document =
            |path: &&str| Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("md"));
        Ok(listed.split('\0').filter(is_document).map(PathBuf::from).collect())
    }

    /// Adds a line to one file in a hundred, others each time, and commits; returns how many they were.
    pub(super) fn edit(&mut self) -> Result<usize> {
        self.edits += 1;
        let line = format!("\nEdited for the {}. time.\n", self.edits);
        let mut edited = 0;
        for path in self.documents()?.iter().skip(self.edits % EDIT_STRIDE).step_by(EDIT_STRIDE) {
            let file = self.work.join(path);
            // What a link leads to may be edited already, or be nothing of ours.
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

    /// Removes documents, evenly, until so many are left.
    fn leave(&self, most: usize) -> Result<()> {
        let documents = self.documents()?;
        ensure!(documents.len() >= most, "there are only {} documents", documents.len());
        for (place, path) in documents.iter().enumerate() {
            // Every so manyeth stays: where the whole number of steps grows.
            if (place + 1) * most / documents.len() == place * most / documents.len() {
                let file = self.work.join(path);
                fs::remove_file(&file).with_context(|| format!("could not remove {}", file.display()))?;
            }
        }
        self.commit("Leave some documents")
    }

    fn commit(&self, message: &str) -> Result<()> {
        self.git(&["commit", "--quiet", "--all", "--message", message])?;
        self.git(&["push", "--quiet", "origin", BRANCH])?;
        Ok(())
    }

    fn git(&self, words: &[&str]) -> Result<String> {
        process::output(git(&self.work).args(words), &self.outputs, GIT_TIMEOUT)
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
