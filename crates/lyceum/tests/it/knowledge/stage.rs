//! What the tests of a knowledge base play on: a Git server with one repository, and the real program that serves it.

mod program;
mod shelf;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use lyceum_testkit::{Checkout, Delivery, GitServer, Outcome};
use tempfile::TempDir;

pub(super) use program::{Ended, Program, command, prepare};
pub(super) use shelf::{Shelf, knowledge, objects};

/// What deliveries are signed with.
pub(super) const SECRET: &str = "It's a Secret to Everybody";

/// Stands in everything that is not meant to be served, and must be found in no object.
pub(super) const CANARY: &str = "xyzzy-canary";

/// How long anything may take before a test has failed. Long, for the machine may be busy.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// A Git server, a repository of documents on it, and a folder for the program that serves them.
pub(super) struct Stage {
    pub(super) git: GitServer,
    pub(super) kb: Checkout,
    pub(super) folder: TempDir,
}

impl Stage {
    /// A repository without commits.
    pub(super) async fn empty() -> Self {
        let git = GitServer::start().await.unwrap();
        let kb = git.checkout("team/kb.git").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let stage = Self { git, kb, folder };
        stage.configure(stage.kb.url());
        stage
    }

    /// A repository with one document, and something that is not meant to be served.
    pub(super) async fn new() -> Self {
        let stage = Self::empty().await;
        stage.kb.write("notes/first.md", published("First", "one")).unwrap();
        stage.kb.write("notes/secret.md", unpublished("Secret")).unwrap();
        stage.kb.publish().await.unwrap();
        stage
    }

    /// Has the program serve the repository at that address.
    pub(super) fn configure(&self, url: &str) {
        write_config(self.folder.path(), &format!("url = {url:?}\nwebhook_secret_env = \"WEBHOOK_SECRET\""));
    }

    /// The folder for what must survive a restart.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the program; from now on it is told of pushes.
    pub(super) async fn start(&self) -> Program {
        self.start_with(&[]).await
    }

    /// The same with further variables.
    pub(super) async fn start_with(&self, variables: &[(&str, &str)]) -> Program {
        let program = Program::start(self.folder.path(), &self.data(), variables).await;
        self.git.tell_of_pushes(&format!("http://{}/webhooks/github", program.addr), SECRET);
        program
    }

    /// Starts the program and waits until it serves something.
    pub(super) async fn started(&self) -> Program {
        let program = self.start().await;
        program.shows_something().await;
        program
    }

    /// Commits and pushes what is in the work tree, and waits until the program shows it.
    pub(super) async fn brings_in(&self, program: &Program) -> String {
        let commit = self.kb.publish().await.unwrap();
        program.shows(&commit).await;
        commit
    }

    /// Waits until every delivery came to its end, and returns them.
    pub(super) async fn deliveries(&self) -> Vec<Delivery> {
        let done = || self.git.deliveries().iter().all(|one| one.outcome != Outcome::Sent);
        eventually("the deliveries are answered", || async {
            if done() { Ok(()) } else { Err("on their way".into()) }
        })
        .await;
        self.git.deliveries()
    }

    /// What became of the last delivery.
    pub(super) async fn last_delivery(&self) -> Delivery {
        self.deliveries().await.pop().unwrap()
    }

    /// Checks that what the program shows and keeps is what a program without a past makes of the repository.
    pub(super) async fn check_equal_to_scratch(&self, program: &Program) -> Shelf {
        self.check_equal_to_scratch_in(program, &self.data()).await
    }

    /// The same where the data is in another folder.
    pub(super) async fn check_equal_to_scratch_in(&self, program: &Program, data: &Path) -> Shelf {
        let anew = tempfile::tempdir().unwrap();
        let scratch = Program::start(self.folder.path(), anew.path(), &[]).await;
        let commit = scratch.shows_something().await;
        program.shows(&commit).await;
        let kept = Shelf::settled(data, &commit).await;
        kept.check_equal_to(&Shelf::settled(anew.path(), &commit).await);
        let listed = program.entries().await;
        assert_eq!(listed, scratch.entries().await, "other entries are listed");
        kept.check_served_by(program, &listed).await;
        kept
    }
}

/// Writes `lyceum.toml` with those lines of the source.
pub(super) fn write_config(folder: &Path, source: &str) {
    let text =
        format!("[[source]]\nname = \"kb\"\n{source}\n\n[knowledge]\nsource = \"kb\"\ntitle = \"Test\"\n");
    std::fs::write(folder.join("lyceum.toml"), text).unwrap();
}

/// A document that is served.
pub(super) fn published(title: &str, body: &str) -> String {
    format!("---\ntitle: {title}\ndate: 2026-01-01\npublish: true\n---\n{body}\n")
}

/// A document that is not served.
pub(super) fn unpublished(title: &str) -> String {
    format!("---\ntitle: {title} {CANARY}\ndate: 2026-01-01\n---\n{CANARY}\n")
}

/// Looks again and again until it is as it should be; what was seen last is told when it never is.
pub(super) async fn eventually<T, F>(what: &str, look: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, String>>,
{
    eventually_within(TIMEOUT, what, look).await
}

/// The same with another limit.
pub(super) async fn eventually_within<T, F>(limit: Duration, what: &str, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, String>>,
{
    let until = Instant::now() + limit;
    loop {
        match look().await {
            Ok(seen) => return seen,
            Err(seen) if Instant::now() > until => {
                panic!("did not happen within {limit:?}: {what}; the last that was seen: {seen}")
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(15)).await,
        }
    }
}
