//! Folders of the benchmark: test data, and artefacts cached for the next run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lyceum_harness::process;
use lyceum_harness::repo::Repo;

/// Timeout of a Git command.
const GIT_TIMEOUT: Duration = Duration::from_secs(300);

/// The branch of the repositories.
pub(super) const BRANCH: &str = "main";

/// Git settings, independent of the machine's configuration.
const GIT_CONFIG: [&str; 4] =
    ["user.name=bench", "user.email=bench@example.org", "commit.gpgSign=false", "core.autocrlf=false"];

/// The folders of the benchmark.
pub(super) struct Workspace {
    /// Test sets and bundles.
    data: PathBuf,
    /// Cached artefacts.
    cache: PathBuf,
    /// Scripts of this crate.
    scripts: PathBuf,
}

impl Workspace {
    /// Creates the cache folder.
    pub(super) fn new(repo: &Repo, data: PathBuf) -> Result<Self> {
        let cache = repo.path("target/bench/search");
        fs::create_dir_all(&cache).with_context(|| format!("could not create {}", cache.display()))?;
        Ok(Self {
            data: std::path::absolute(data)?,
            cache,
            scripts: repo.path("crates/lyceum-bench/src/search"),
        })
    }

    /// Path of a test set.
    pub(super) fn set(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// Path of a script.
    pub(super) fn script(&self, name: &str) -> PathBuf {
        self.scripts.join(name)
    }

    /// Path of a cached artefact, which may not exist.
    pub(super) fn cached(&self, name: &str) -> PathBuf {
        self.cache.join(name)
    }

    /// Creates a cached folder.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.cached(name);
        fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
        Ok(folder)
    }

    /// Creates an empty folder.
    pub(super) fn emptied(&self, name: &str) -> Result<PathBuf> {
        let _ = fs::remove_dir_all(self.cached(name));
        self.folder(name)
    }

    /// The mdn repository, bare.
    pub(super) fn mdn(&self) -> Result<PathBuf> {
        let bare = self.cached("mdn.git");
        if !bare.join("HEAD").is_file() {
            println!("creating the mdn repository");
            self.git(&["clone", "--quiet", "--bare"], &[&self.data.join("mdn.bundle"), &bare])?;
        }
        Ok(bare)
    }

    /// A bare repository with `count` documents of mdn, evenly sampled.
    pub(super) fn part_of_mdn(&self, count: usize) -> Result<PathBuf> {
        let bare = self.cached(&format!("mdn-{count}.git"));
        if bare.join("HEAD").is_file() {
            return Ok(bare);
        }
        let all = self.mdn()?;
        println!("creating a repository of {count} mdn documents");
        let work = self.emptied("work")?;
        self.git(&["clone", "--quiet"], &[&all, &work])?;
        let listed = self.git_in(&work, &["ls-tree", "-r", "-z", "--name-only", "HEAD"])?;
        let documents: Vec<&str> = listed.split('\0').filter(|path| path.ends_with(".md")).collect();
        ensure!(documents.len() >= count, "mdn has only {} documents", documents.len());
        for (index, path) in documents.iter().enumerate() {
            // Even sampling: keep a document where `index * count / total` increases.
            if (index + 1) * count / documents.len() == index * count / documents.len() {
                fs::remove_file(work.join(path))?;
            }
        }
        self.git_in(&work, &["commit", "--quiet", "--all", "--message", "Keep some documents"])?;
        let new = self.cached("new.git");
        let _ = fs::remove_dir_all(&new);
        self.git(&["clone", "--quiet", "--bare"], &[&work, &new])?;
        fs::rename(&new, &bare)?;
        fs::remove_dir_all(&work)?;
        Ok(bare)
    }

    /// Runs Git in a repository and returns its output.
    pub(super) fn git_in(&self, repository: &Path, args: &[&str]) -> Result<String> {
        let mut command = git();
        command.current_dir(repository).args(args);
        process::output(&mut command, &self.folder("outputs")?, GIT_TIMEOUT)
    }

    fn git(&self, args: &[&str], paths: &[&Path]) -> Result<String> {
        let mut command = git();
        command.args(args).args(paths);
        process::output(&mut command, &self.folder("outputs")?, GIT_TIMEOUT)
    }
}

fn git() -> Command {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(GIT_CONFIG.iter().flat_map(|setting| ["-c", *setting]));
    command
}
