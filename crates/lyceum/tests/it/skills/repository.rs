//! A temporary Git repository: a work tree, and the bare repository that is served.

use std::{ffi::OsStr, fs, path::PathBuf, process::Command};

use tempfile::TempDir;

/// A bare repository and its work tree.
pub(super) struct Repository {
    root: TempDir,
}

impl Repository {
    /// A repository whose branch `main` has those files.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let repository = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir(repository.work()).unwrap();
        repository.git(["init", "--quiet", "--initial-branch=main"]);
        fs::create_dir(repository.bare()).unwrap();
        repository.git(["init", "--quiet", "--bare", "--initial-branch=main", "../origin.git"]);
        repository.commit(files);
        repository
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        format!("file://{}", self.bare().display())
    }

    /// Commits those files to the current branch; returns the hash.
    pub(super) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (file, text) in files {
            let place = self.work().join(file);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        self.git(["add", "--all"]);
        self.git(["commit", "--quiet", "--allow-empty", "--message=change"]);
        self.git(["push", "--quiet", "../origin.git", "HEAD"]);
        self.git(["rev-parse", "HEAD"])
    }

    /// Switches to another branch.
    pub(super) fn branch(&self, name: &str) {
        self.git(["checkout", "--quiet", "-b", name]);
    }

    /// Makes the repository unreachable.
    pub(super) fn goes_away(&self) {
        fs::rename(self.bare(), self.root.path().join("away.git")).unwrap();
    }

    /// Makes it reachable again.
    pub(super) fn comes_back(&self) {
        fs::rename(self.root.path().join("away.git"), self.bare()).unwrap();
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn bare(&self) -> PathBuf {
        self.root.path().join("origin.git")
    }

    fn git(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(self.work())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}
