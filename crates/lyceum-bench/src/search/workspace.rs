//! Where things are: what is measured on, and what is kept for the next run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lyceum_harness::process;
use lyceum_harness::repo::Repo;

/// The longest that one command of Git may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(300);

/// The branch of the repositories.
pub(super) const BRANCH: &str = "main";

/// What holds for every command, whatever the machine's own settings say.
const GIT_CONFIG: [&str; 4] =
    ["user.name=bench", "user.email=bench@example.org", "commit.gpgSign=false", "core.autocrlf=false"];

/// The folders.
pub(super) struct Workspace {
    /// The test sets and bundles.
    data: PathBuf,
    /// What is kept.
    cache: PathBuf,
    /// Where our own scripts are.
    scripts: PathBuf,
}

impl Workspace {
    /// Makes the folder of what is kept.
    pub(super) fn new(repo: &Repo, data: PathBuf) -> Result<Self> {
        let cache = repo.path("target/bench/search");
        fs::create_dir_all(&cache).with_context(|| format!("could not make {}", cache.display()))?;
        Ok(Self {
            data: std::path::absolute(data)?,
            cache,
            scripts: repo.path("crates/lyceum-bench/src/search"),
        })
    }

    /// A test set.
    pub(super) fn set(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// One of our own scripts.
    pub(super) fn script(&self, name: &str) -> PathBuf {
        self.scripts.join(name)
    }

    /// Something that is kept; whether it is there is another matter.
    pub(super) fn cached(&self, name: &str) -> PathBuf {
        self.cache.join(name)
    }

    /// A folder that is kept.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.cached(name);
        fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        Ok(folder)
    }

    /// An empty folder.
    pub(super) fn emptied(&self, name: &str) -> Result<PathBuf> {
        let _ = fs::remove_dir_all(self.cached(name));
        self.folder(name)
    }

    /// All of mdn as a bare repository.
    pub(super) fn mdn(&self) -> Result<PathBuf> {
        let bare = self.cached("mdn.git");
        if !bare.join("HEAD").is_file() {
            println!("making the repository of mdn");
            self.git(&["clone", "--quiet", "--bare"], &[&self.data.join("mdn.bundle"), &bare])?;
        }
        Ok(bare)
    }

    /// So many documents of mdn, taken evenly, as a bare repository.
    pub(super) fn part_of_mdn(&self, most: usize) -> Result<PathBuf> {
        let bare = self.cached(&format!("mdn-{most}.git"));
        if bare.join("HEAD").is_file() {
            return Ok(bare);
        }
        let all = self.mdn()?;
        println!("making a repository of {most} documents of mdn");
        let work = self.emptied("work")?;
        self.git(&["clone", "--quiet"], &[&all, &work])?;
        let listed = self.git_in(&work, &["ls-tree", "-r", "-z", "--name-only", "HEAD"])?;
        let documents: Vec<&str> = listed.split('\0').filter(|path| path.ends_with(".md")).collect();
        ensure!(documents.len() >= most, "mdn has only {} documents", documents.len());
        for (place, path) in documents.iter().enumerate() {
            // Every so manyeth stays: where the whole number of steps grows.
            if (place + 1) * most / documents.len() == place * most / documents.len() {
                fs::remove_file(work.join(path))?;
            }
        }
        self.git_in(&work, &["commit", "--quiet", "--all", "--message", "Leave some documents"])?;
        let new = self.cached("new.git");
        let _ = fs::remove_dir_all(&new);
        self.git(&["clone", "--quiet", "--bare"], &[&work, &new])?;
        fs::rename(&new, &bare)?;
        fs::remove_dir_all(&work)?;
        Ok(bare)
    }

    /// What Git says in a repository.
    pub(super) fn git_in(&self, repository: &Path, words: &[&str]) -> Result<String> {
        let mut command = git();
        command.current_dir(repository).args(words);
        process::output(&mut command, &self.folder("outputs")?, GIT_TIMEOUT)
    }

    fn git(&self, words: &[&str], paths: &[&Path]) -> Result<String> {
        let mut command = git();
        command.args(words).args(paths);
        process::output(&mut command, &self.folder("outputs")?, GIT_TIMEOUT)
    }
}

fn git() -> Command {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(GIT_CONFIG.iter().flat_map(|setting| ["-c", *setting]));
    command
}
