//! Folders and repositories, with the real `git` and a real server.

mod apps;
mod bundles;
mod damage;
mod exclusions;
mod fetching;
mod folders;
mod interruptions;
mod machines;
mod tokens;
mod trees;
mod versions;
mod watching;
mod working_copies;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use lyceum_model::RelPath;
use lyceum_testkit::GitServer;
use tempfile::TempDir;

use crate::{Error, Limits, Repository, Settings, Snapshot};

/// Larger than any file of a test.
const MAX_BYTES: u64 = 1 << 20;

/// A machine with a folder for clones.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// The clone folder of a test.
    fn clone_dir(&self) -> PathBuf {
        self.folder.path().join("clones/kb.git")
    }

    fn settings(&self, url: &str) -> Settings {
        let limits = Limits {
            clone: Duration::from_secs(60),
            fetch: Duration::from_secs(60),
            turn: Duration::from_secs(60),
        };
        Settings { limits, ..Settings::new(url, self.clone_dir(), peer()) }
    }

    fn repository(&self, url: &str) -> Repository {
        Repository::new(self.settings(url)).unwrap()
    }

    /// The clone folder and its siblings.
    fn siblings(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("clones")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The askpass program.
fn peer() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let peer = this.parent().and_then(Path::parent).unwrap().join("examples/source-peer");
    assert!(peer.is_file(), "build it with: cargo build -p lyceum-source --example source-peer");
    peer
}

async fn server() -> GitServer {
    GitServer::start().await.unwrap()
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn read(snapshot: &Snapshot, file: &str) -> String {
    String::from_utf8(snapshot.read(&path(file), MAX_BYTES).unwrap()).unwrap()
}

/// The files of a snapshot.
fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.files().keys().map(RelPath::as_str).collect()
}

/// The problems of a snapshot.
fn left_out(snapshot: &Snapshot) -> Vec<String> {
    snapshot.problems().iter().map(|problem| format!("{}: {:?}", problem.path, problem.reason)).collect()
}

/// An error as shown to users, and as logged with its source chain.
fn texts(error: &Error) -> (String, String) {
    let mut all = error.to_string();
    let mut behind = std::error::Error::source(error);
    while let Some(error) = behind {
        all.push_str(&format!("\n{error}\n{error:?}"));
        behind = error.source();
    }
    (error.to_string(), format!("{all}\n{error:?}"))
}
