//! A repository that a test writes to.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A repository of the server, with a work tree. Its branch is `main`.
pub struct TestRepository {
    git_dir: PathBuf,
    work: PathBuf,
}

impl TestRepository {
    pub(super) fn new(root: &Path, name: &str) -> io::Result<Self> {
        Self::with_format(root, name, "sha1")
    }

    /// Creates a repository below a folder, with that object format.
    pub fn with_format(root: &Path, name: &str, format: &str) -> io::Result<Self> {
        let repository = Self { git_dir: root.join(name), work: root.join(format!("{name}.work")) };
        fs::create_dir_all(&repository.work)?;
        repository.git(["init", "--quiet", "--initial-branch=main", &format!("--object-format={format}")])?;
        Ok(repository)
    }

    /// The path of the repository.
    pub fn path(&self) -> &Path {
        &self.git_dir
    }

    /// The path of its work tree.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Writes a file in the work tree.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
        let path = self.work.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&self.work))?;
        fs::write(path, content)
    }

    /// Creates a symbolic link in the work tree.
    pub fn link(&self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> io::Result<()> {
        let path = self.work.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&self.work))?;
        symlink(target, path)
    }

    /// Deletes a file from the work tree.
    pub fn remove(&self, path: impl AsRef<Path>) -> io::Result<()> {
        fs::remove_file(self.work.join(path))
    }

    /// Commits the work tree; returns the commit.
    pub fn commit(&self) -> io::Result<String> {
        self.git(["add", "--all", "--force"])?;
        self.git(["commit", "--quiet", "--allow-empty", "--message=next"])?;
        self.git(["rev-parse", "HEAD"])
    }

    /// Replaces the branch by a commit without parents, like a force-push; returns the commit.
    pub fn rewrite(&self) -> io::Result<String> {
        self.git(["add", "--all", "--force"])?;
        let tree = self.git(["write-tree"])?;
        let commit = self.git(["commit-tree", "-m", "anew", &tree])?;
        self.git(["update-ref", "refs/heads/main", &commit])?;
        Ok(commit)
    }

    /// Adds a submodule to the index; [`commit`](Self::commit) keeps it.
    pub fn submodule(&self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.work.join(path))?;
        let head = self.git(["rev-parse", "HEAD"])?;
        self.git(["update-index", "--add", "--cacheinfo", &format!("160000,{head},{path}")]).map(drop)
    }

    /// Deletes a branch.
    pub fn delete_branch(&self, name: &str) -> io::Result<()> {
        self.git(["update-ref", "-d", &format!("refs/heads/{name}")]).map(drop)
    }

    /// Imports a `git fast-import` stream, and updates the work tree.
    pub fn fast_import(&self, stream: &str) -> io::Result<()> {
        let file = self.git_dir.join("stream");
        fs::write(&file, stream)?;
        let done = self.command(["fast-import", "--quiet"]).stdin(fs::File::open(&file)?).output()?;
        finished(&done)?;
        fs::remove_file(file)?;
        self.git(["reset", "--quiet", "--hard"]).map(drop)
    }

    /// Runs git on the repository and its work tree, without the settings of this machine.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> io::Result<String> {
        finished(&self.command(arguments).output()?)
    }

    fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(&self.work)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.work)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "Test")
            .env("GIT_AUTHOR_EMAIL", "test@example.org")
            .env("GIT_COMMITTER_NAME", "Test")
            .env("GIT_COMMITTER_EMAIL", "test@example.org")
            .args(arguments);
        command
    }
}

/// The output of git, if it succeeded.
fn finished(output: &Output) -> io::Result<String> {
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
