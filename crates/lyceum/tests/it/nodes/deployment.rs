//! A deployment: a Git server, a bucket, a Postgres schema behind a proxy, and real processes with a data folder each.

use std::{
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use lyceum_harness::{postgres::Postgres, server::Server, skip::skipped};
use lyceum_net::Secret;
use lyceum_store::{Db, PostgresSettings};
use lyceum_testkit::{Checkout, GitServer, TestS3};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::app::{TestApp, get};

/// The secret of webhook signatures.
pub(super) const SECRET: &str = "It's a Secret to Everybody";

/// The deployment key of the nodes.
pub(super) const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Timeout of every wait. Longer than a lease, because its holder may have been killed.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct Deployment {
    pub(super) git: GitServer,
    pub(super) kb: Checkout,
    pub(super) skills: Checkout,
    pub(super) s3: TestS3,
    pub(super) database: Proxy,
    pub(super) folder: TempDir,
    url: String,
    _postgres: Postgres,
}

/// One of its processes; killed on drop.
pub(super) struct Node {
    pub(super) server: Server,
    pub(super) app: TestApp,
}

impl Deployment {
    /// Repositories with a document and a skill, and a configuration with these lines; `None` if there is no Postgres here.
    pub(super) async fn start(lines: &str) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let schema = format!("nodes_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let begin = move || -> Result<_, String> {
            let postgres = Postgres::start().map_err(|error| format!("no Postgres: {error:#}"))?;
            let url = postgres.empty_schema(&schema).unwrap();
            Ok((postgres, url))
        };
        let begun = tokio::task::spawn_blocking(begin).await.unwrap();
        let (postgres, url) = begun.inspect_err(|reason| skipped(reason)).ok()?;
        let database = Proxy::start(postgres.port()).await;
        let url = url.replace(&format!(":{}/", postgres.port()), &format!(":{}/", database.port));
        let (git, s3) = (GitServer::start().await.unwrap(), TestS3::start().await.unwrap());
        let (kb, skills) = (git.checkout("team/kb.git").unwrap(), git.checkout("team/skills.git").unwrap());
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "[server]\npublic_url = \"http://127.0.0.1:4999\"\n[limits]\ncall_seconds = 20\n\
             [[source]]\nname = \"kb\"\nurl = {:?}\nwebhook_secret_env = \"WEBHOOK_SECRET\"\n\
             [[source]]\nname = \"skills\"\nurl = {:?}\nwebhook_secret_env = \"WEBHOOK_SECRET\"\n\
             [knowledge]\nsource = \"kb\"\n[knowledge.again]\nsource = \"kb\"\ntitle = \"Again\"\n[skills]\nsource = \"skills\"\n\
             [store]\nurl_env = \"DATABASE_URL\"\n\
             [objects]\nname = \"bucket\"\nendpoint = {:?}\nprefix = \"lyceum\"\naccess_key_env = \"S3_ID\"\nsecret_key_env = \"S3_KEY\"\n{lines}",
            kb.url(),
            skills.url(),
            s3.url(),
        );
        std::fs::write(folder.path().join("lyceum.toml"), text).unwrap();
        let deployment = Self { git, kb, skills, s3, database, folder, url, _postgres: postgres };
        deployment.write_document("first", "a ferry across the strait");
        deployment.kb.publish().await.unwrap();
        deployment.write_skill("sailing");
        deployment.skills.publish().await.unwrap();
        Some(deployment)
    }

    pub(super) fn write_document(&self, name: &str, body: &str) {
        let text = format!("---\ntitle: {name}\n---\n{body}\n");
        self.kb.write(format!("notes/{name}.md"), text).unwrap();
    }

    pub(super) fn write_skill(&self, name: &str) {
        let text = format!("---\nname: {name}\ndescription: How to do {name}\n---\nText about {name}.\n");
        self.skills.write(format!("skills/{name}/SKILL.md"), text).unwrap();
    }

    /// The command of a node with these variables.
    pub(super) fn command(&self, name: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = self.lyceum(variables);
        let data = self.folder.path().join(name);
        command.arg("--data-dir").arg(data).args(["serve", "--listen", "127.0.0.1:0"]);
        command
    }

    /// The program with these variables, without arguments.
    pub(super) fn lyceum(&self, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("WEBHOOK_SECRET", SECRET)
            .env("LYCEUM_EMBEDDER", "none")
            .env("DATABASE_URL", &self.url)
            .env("S3_ID", "id")
            .env("S3_KEY", "secret")
            .env("COOKIE_ENCRYPTION_KEY", KEY)
            .envs(variables.iter().copied());
        command
    }

    /// Starts a node and waits until it listens.
    pub(super) async fn node(&self, name: &str, variables: &[(&str, &str)]) -> Node {
        let (mut command, log) = (self.command(name, variables), self.log(name));
        // Its address is in the log; that of an earlier run is no longer right.
        drop(std::fs::remove_file(&log));
        let server = tokio::task::spawn_blocking(move || Server::start(&mut command, &log)).await.unwrap();
        let server = server.unwrap();
        let app = TestApp::elsewhere(server.addr);
        Node { server, app }
    }

    /// Three nodes that serve the newest commits.
    pub(super) async fn three_nodes(&self, variables: &[(&str, &str)]) -> [Node; 3] {
        let nodes = [
            self.node("a", variables).await,
            self.node("b", variables).await,
            self.node("c", variables).await,
        ];
        for node in &nodes {
            node.is_ready().await;
        }
        nodes
    }

    /// How many syncs were requested of each knowledge base, by the database.
    pub(super) async fn requested_syncs(&self) -> Vec<i64> {
        let settings = PostgresSettings::new(Secret::new(&self.url).unwrap());
        let read = move || {
            let db = Db::connect(&settings)?;
            db.read_blocking(|tx| {
                tx.rows("SELECT wanted FROM sources ORDER BY name", [], |row| row.integer(0))
            })
        };
        tokio::task::spawn_blocking(read).await.unwrap().unwrap()
    }

    /// The log of a node.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.jsonl"))
    }

    /// Sends webhooks to a node from now on.
    pub(super) fn notify(&self, node: &Node) {
        self.git.set_webhook(&format!("http://{}/webhooks/github", node.app.addr), SECRET);
    }
}

impl Node {
    /// Waits until it is ready.
    pub(super) async fn is_ready(&self) {
        eventually("the node is ready", async || {
            let answer = self.app.send(get("/readyz")).await;
            if answer.status == 200 { Ok(()) } else { Err(answer.text().to_owned()) }
        })
        .await;
    }

    /// Waits until a source is served at that commit by every service.
    pub(super) async fn shows(&self, source: &str, commit: &str) {
        eventually("the commit is served", async || {
            let health = self.app.send(get("/health")).await.json();
            let sources = health["sources"].as_array().cloned().unwrap_or_default();
            let shown = sources.iter().find(|one| one["name"] == source).cloned().unwrap_or(Value::Null);
            if shown["commit"] == commit && shown["state"] == "ready" {
                Ok(())
            } else {
                Err(shown.to_string())
            }
        })
        .await;
    }

    /// Sends a signal.
    pub(super) fn signal(&self, name: &str) {
        let id = self.server.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }
}

/// Polls until a check succeeds; on timeout, shows the last result.
pub(super) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let until = Instant::now() + TIMEOUT;
    loop {
        match look().await {
            Ok(seen) => return seen,
            Err(seen) => assert!(Instant::now() < until, "did not happen: {what}; last: {seen}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The way to the database, which can be closed.
pub(super) struct Proxy {
    port: u16,
    mode: watch::Sender<Mode>,
}

/// What the proxy does with connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Forwards everything.
    Open,
    /// Accepts connections and forwards nothing, like a paused server.
    Stalled,
    /// Ends all connections, like a killed server.
    Closed,
}

impl Proxy {
    async fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mode = watch::Sender::new(Mode::Open);
        let seen = mode.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, to, seen.clone()));
            }
        });
        Self { port, mode }
    }

    pub(super) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

async fn forward(client: TcpStream, to: u16, mut mode: watch::Receiver<Mode>) {
    let server = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let closed = mode.clone();
    tokio::select! {
        () = copy(from_client, to_server, closed.clone()) => {}
        () = copy(from_server, to_client, closed) => {}
        _ = mode.wait_for(|mode| *mode == Mode::Closed) => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut mode: watch::Receiver<Mode>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if mode.wait_for(|mode| *mode == Mode::Open).await.is_err()
            || to.write_all(&bytes[..count]).await.is_err()
        {
            return;
        }
    }
}
