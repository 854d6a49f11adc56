//! A work tree to push from.

use std::{io, ops::Deref, path::Path, process::Stdio, time::Duration};

use tempfile::TempDir;
use tokio::process::Command;

use super::TestRepository;

/// Timeout of a push.
const PUSH_TIMEOUT: Duration = Duration::from_secs(60);

/// A clone with a work tree outside the server. Commits reach the server when they are pushed.
pub struct Checkout {
    repository: TestRepository,
    url: String,
    _folder: TempDir,
}

impl Deref for Checkout {
    type Target = TestRepository;

    fn deref(&self) -> &TestRepository {
        &self.repository
    }
}

impl Checkout {
    pub(super) fn new(root: &Path, name: &str, url: String) -> io::Result<Self> {
        let made = std::process::Command::new("git")
            .args(["init", "--quiet", "--bare", "--initial-branch=main", "--template="])
            .arg(root.join(name))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .status()?;
        if !made.success() {
            return Err(io::Error::other("git init failed"));
        }
        let folder = TempDir::new()?;
        let repository = TestRepository::new(folder.path(), "kb")?;
        Ok(Self { repository, url, _folder: folder })
    }

    /// The URL to push to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Pushes the current commit to the branch `main`.
    pub async fn push(&self) -> io::Result<()> {
        self.push_as("HEAD:refs/heads/main").await
    }

    /// Force-pushes the current commit to the branch `main`.
    pub async fn force_push(&self) -> io::Result<()> {
        self.push_as("+HEAD:refs/heads/main").await
    }

    /// Commits the work tree and pushes it to `main`; returns the commit.
    pub async fn publish(&self) -> io::Result<String> {
        let commit = self.commit()?;
        self.push().await?;
        Ok(commit)
    }

    /// Pushes a refspec, such as `HEAD:refs/heads/other`, or `:refs/heads/main` to delete the branch.
    pub async fn push_as(&self, refspec: &str) -> io::Result<()> {
        let mut command = Command::new("git");
        command
            .args(["push", "--quiet", &self.url, refspec])
            .env("GIT_DIR", self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(PUSH_TIMEOUT, command.output()).await??;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(())
    }
}
