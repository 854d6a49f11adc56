//! The environment of knowledge base tests: a Git server with one repository, and the real program that serves it.

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

/// The secret of webhook signatures.
pub(super) const SECRET: &str = "It's a Secret to Everybody";

/// A word in everything that must not be served, and must be in no object.
pub(super) const CANARY: &str = "xyzzy-canary";

/// Timeout of every wait. Long, because the machine may be busy.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// A Git server with one repository of documents, and a folder for the program.
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

    /// A repository with one published and one unpublished document.
    pub(super) async fn new() -> Self {
        let stage = Self::empty().await;
        stage.kb.write("notes/first.md", published("First", "one")).unwrap();
        stage.kb.write("notes/secret.md", unpublished("Secret")).unwrap();
        stage.kb.publish().await.unwrap();
        stage
    }

    /// Writes the configuration that serves the repository at that URL.
    pub(super) fn configure(&self, url: &str) {
        write_config(self.folder.path(), &format!("url = {url:?}\nwebhook_secret_env = \"WEBHOOK_SECRET\""));
    }

    /// The data folder.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the program, and sends webhooks to it from now on.
    pub(super) async fn start(&self) -> Program {
        self.start_with(&[]).await
    }

    /// The same with further variables.
    pub(super) async fn start_with(&self, variables: &[(&str, &str)]) -> Program {
        let program = Program::start(self.folder.path(), &self.data(), variables).await;
        self.git.set_webhook(&format!("http://{}/webhooks/github", program.addr), SECRET);
        program
    }

    /// Starts the program and waits until it serves something.
    pub(super) async fn started(&self) -> Program {
        let program = self.start().await;
        program.shows_something().await;
        program
    }

    /// Commits and pushes the work tree, and waits until the program serves it.
    pub(super) async fn brings_in(&self, program: &Program) -> String {
        let commit = self.kb.publish().await.unwrap();
        program.shows(&commit).await;
        commit
    }

    /// Waits until every delivery has ended, and returns them.
    pub(super) async fn deliveries(&self) -> Vec<Delivery> {
        let done = || self.git.deliveries().iter().all(|one| one.outcome != Outcome::Sent);
        eventually("the deliveries are answered", || async {
            if done() { Ok(()) } else { Err("on their way".into()) }
        })
        .await;
        self.git.deliveries()
    }

    /// The last delivery.
    pub(super) async fn last_delivery(&self) -> Delivery {
        self.deliveries().await.pop().unwrap()
    }

    /// Checks that the program serves and stores what a fresh program makes of the repository.
    pub(super) async fn check_equal_to_scratch(&self, program: &Program) -> Shelf {
        self.check_equal_to_scratch_in(program, &self.data()).await
    }

    /// The same for another data folder.
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
    let text = format!(
        "[[source]]\nname = \"kb\"\n{source}\n\n[knowledge]\nsource = \"kb\"\ntitle = \"Test\"\npublish = \"frontmatter\"\n"
    );
    std::fs::write(folder.join("lyceum.toml"), text).unwrap();
}

/// A published document.
pub(super) fn published(title: &str, body: &str) -> String {
    format!("---\ntitle: {title}\ndate: 2026-01-01\npublish: true\n---\n{body}\n")
}

/// An unpublished document.
pub(super) fn unpublished(title: &str) -> String {
    format!("---\ntitle: {title} {CANARY}\ndate: 2026-01-01\n---\n{CANARY}\n")
}

/// Polls until a check succeeds; on timeout, shows the last result.
pub(super) async fn eventually<T, F>(what: &str, look: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, String>>,
{
    eventually_within(TIMEOUT, what, look).await
}

/// The same with another timeout.
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
