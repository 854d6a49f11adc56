//! A realistic Git repository of skills, with a work tree for further commits.

pub(super) mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::scene::Scene;
use lyceum_harness::process::command_line;

/// Timeout of one `git` command.
const GIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The folder of the repository below [`Sample::served`].
pub(super) const NAME: &str = "sample.git";

/// The repository: the served bare repository, and a work tree.
pub(super) struct Sample {
    served: PathBuf,
    work: PathBuf,
}

impl Sample {
    /// Creates the repository with one commit.
    pub(super) fn make(scene: &Scene<'_>) -> Result<Self> {
        let sample = Self { served: scene.folder("served")?, work: scene.folder("work")? };
        for (path, bytes) in files::all() {
            sample.write(&path, &bytes)?;
        }
        let bare = sample.repository();
        let bare = text(&bare)?;
        git(scene, &sample.work, &["init", "--quiet", "--bare", "--initial-branch=main", bare])?;
        git(scene, &sample.work, &["init", "--quiet", "--initial-branch=main"])?;
        git(scene, &sample.work, &["remote", "add", "origin", bare])?;
        sample.push(scene)?;
        Ok(sample)
    }

    /// The folder that a Git server serves.
    pub(super) fn served(&self) -> &Path {
        &self.served
    }

    /// The work tree.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// The line of a `[[source]]` for the repository.
    pub(super) fn as_repository(&self) -> Result<String> {
        Ok(format!("url = {}", toml::Value::from(text(&self.repository())?)))
    }

    /// The line of a `[[source]]` for the folder of the skills.
    pub(super) fn as_folder(&self) -> Result<String> {
        Ok(format!("path = {}", toml::Value::from(self.skills_dir()?)))
    }

    /// The folder of the skills, for `SKILLS_DIR`.
    pub(super) fn skills_dir(&self) -> Result<String> {
        text(&self.work.join("skills")).map(str::to_owned)
    }

    /// Writes a file in the work tree.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let path = self.work.join(path);
        let written = fs::create_dir_all(path.parent().unwrap_or(&self.work));
        written.and_then(|()| fs::write(&path, bytes)).with_context(|| format!("could not write {path:?}"))
    }

    /// Deletes a file from the work tree.
    pub(super) fn remove(&self, path: &str) -> Result<()> {
        let path = self.work.join(path);
        fs::remove_file(&path).with_context(|| format!("could not remove {path:?}"))
    }

    /// Commits and pushes the work tree.
    pub(super) fn push(&self, scene: &Scene<'_>) -> Result<()> {
        self.commit(scene)?;
        git(scene, &self.work, &["push", "--quiet", "origin", "main"])
    }

    /// Commits the work tree. Returns the command that pushes it, to be run later.
    pub(super) fn commit(&self, scene: &Scene<'_>) -> Result<Vec<String>> {
        git(scene, &self.work, &["add", "--all"])?;
        let author = ["-c", "user.name=Sample", "-c", "user.email=sample@example.org"];
        let commit = ["commit", "--quiet", "--message=The next state of the skills"];
        git(scene, &self.work, &[&author[..], &commit].concat())?;
        let words = ["git", "-C", text(&self.work)?, "push", "--quiet", "origin", "main"];
        Ok(words.map(str::to_owned).to_vec())
    }

    fn repository(&self) -> PathBuf {
        self.served.join(NAME)
    }
}

fn git(scene: &Scene<'_>, folder: &Path, words: &[&str]) -> Result<()> {
    let mut command = scene.command("git")?;
    command.current_dir(folder).args(words);
    let line = command_line(&command);
    scene
        .output(&mut command, GIT_TIMEOUT)
        .map(drop)
        .with_context(|| format!("could not create the sample: {line}"))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path here is not UTF-8")
}
