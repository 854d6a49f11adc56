//! The real program in its own process.

use std::{
    fs::{self, File},
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::{Child, Command},
};

use super::{SECRET, TIMEOUT, eventually, eventually_within, shelf::strip};
use crate::app::{Live, Request, Response, get, open, within};

/// A running `lyceum serve`; killed on drop.
pub(in crate::knowledge) struct Program {
    pub(in crate::knowledge) addr: SocketAddr,
    pub(in crate::knowledge) began: Instant,
    child: Child,
    log: Log,
}

/// A program that ended by itself.
#[derive(Debug)]
pub(in crate::knowledge) struct Ended {
    pub(in crate::knowledge) status: ExitStatus,
    pub(in crate::knowledge) said: String,
}

/// The log of one run.
struct Log {
    file: PathBuf,
}

impl Program {
    /// Starts the program with the configuration in a folder, and waits until it listens.
    pub(in crate::knowledge) async fn start(folder: &Path, data: &Path, variables: &[(&str, &str)]) -> Self {
        let command = command(folder, data, variables);
        Self::of(command, folder).await.unwrap_or_else(|ended| panic!("it did not start: {ended:?}"))
    }

    /// Starts the program, which must end by itself.
    pub(in crate::knowledge) async fn fails(folder: &Path, data: &Path) -> Ended {
        match Self::of(command(folder, data, &[]), folder).await {
            Err(ended) => ended,
            Ok(program) => panic!("it did start, at {}", program.addr),
        }
    }

    /// Starts it with a custom command.
    pub(in crate::knowledge) async fn of(mut command: Command, folder: &Path) -> Result<Self, Ended> {
        let log = Log::new(folder);
        let file = File::create(&log.file).unwrap();
        let began = Instant::now();
        let mut child = command.stderr(file).spawn().unwrap();
        loop {
            if let Some(addr) = log.addr() {
                return Ok(Self { addr, began, child, log });
            }
            if let Some(status) = child.try_wait().unwrap() {
                return Err(Ended { status, said: log.text() });
            }
            assert!(began.elapsed() < TIMEOUT, "it does not listen: {}", log.text());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Its process id.
    pub(in crate::knowledge) fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Sends a request; fails if the program is gone.
    pub(in crate::knowledge) async fn send(&self, request: Request) -> io::Result<Response> {
        open(self.addr, request).await?.ended().await
    }

    /// Sends a request with a streaming response.
    pub(in crate::knowledge) async fn open(&self, request: Request) -> Live {
        open(self.addr, request).await.unwrap()
    }

    /// Sends raw bytes, and reads until the connection is closed.
    pub(in crate::knowledge) async fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut text = Vec::new();
        within("the program hangs up", stream.read_to_end(&mut text)).await.unwrap();
        Response::parse(&text)
    }

    /// The status of its only source.
    pub(in crate::knowledge) async fn source(&self) -> Result<Value, String> {
        let answer = self.send(get("/health")).await.map_err(|error| error.to_string())?;
        Ok(answer.json()["sources"][0].clone())
    }

    /// All entries, without the fields that differ between syncs.
    pub(in crate::knowledge) async fn entries(&self) -> Vec<Value> {
        let mut entries = Vec::new();
        loop {
            let page = format!("/api/v1/entries?limit=100&offset={}", entries.len());
            let mut page = self.send(get(&page)).await.unwrap().json();
            let listed = page["entries"].as_array_mut().unwrap();
            entries.append(listed);
            if entries.len() >= usize::try_from(page["total"].as_u64().unwrap()).unwrap() {
                break;
            }
        }
        for entry in &mut entries {
            strip(entry, &["syncedAt", "commitSha", "url"]);
        }
        entries
    }

    /// A document by its `type/id`, without the fields that differ between syncs; else the status.
    pub(in crate::knowledge) async fn document(&self, key: &str) -> Result<Value, u16> {
        let answer = self.send(get(&format!("/api/v1/entries/{key}"))).await.unwrap();
        if answer.status != 200 {
            return Err(answer.status);
        }
        let mut document = answer.json();
        strip(&mut document, &["syncedAt", "commitSha", "url"]);
        Ok(document)
    }

    /// Waits until it serves any commit; returns it.
    pub(in crate::knowledge) async fn shows_something(&self) -> String {
        eventually("something is served", || async {
            let source = self.source().await?;
            source["commit"]
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| format!("{source}\n{}", self.log.end()))
        })
        .await
    }

    /// Waits until it serves that commit.
    pub(in crate::knowledge) async fn shows(&self, commit: &str) -> Value {
        self.shows_within(TIMEOUT, commit).await
    }

    /// The same with another timeout.
    pub(in crate::knowledge) async fn shows_within(&self, limit: Duration, commit: &str) -> Value {
        self.source_is(limit, &format!("{commit} is served"), |source| {
            source["commit"] == commit && source["state"] == "ready"
        })
        .await
    }

    /// Waits until it reports a sync error, while it still serves that commit.
    pub(in crate::knowledge) async fn complains(&self, of: &str, commit: &str) -> Value {
        let source = self.fails_with(of).await;
        assert_eq!((&source["state"], &source["commit"]), (&"failed".into(), &commit.into()), "{source}");
        source
    }

    /// Waits until it reports a sync error.
    pub(in crate::knowledge) async fn fails_with(&self, of: &str) -> Value {
        self.source_is(TIMEOUT, &format!("an error with {of:?}"), |source| {
            source["error"].as_str().is_some_and(|error| error.contains(of))
        })
        .await
    }

    async fn source_is(&self, limit: Duration, what: &str, right: impl Fn(&Value) -> bool) -> Value {
        eventually_within(limit, what, || async {
            let source = self.source().await?;
            if right(&source) { Ok(source) } else { Err(format!("{source}\n{}", self.log.end())) }
        })
        .await
    }

    /// Its log.
    pub(in crate::knowledge) fn log(&self) -> String {
        self.log.text()
    }

    /// `kill -9`.
    pub(in crate::knowledge) async fn kill(mut self) {
        self.child.start_kill().unwrap();
        within("the end of the program", self.child.wait()).await.unwrap();
    }

    /// Stops it gracefully, and waits for its end.
    pub(in crate::knowledge) async fn stop(self) {
        let kill = format!("kill -TERM {}", self.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().await.unwrap().success());
        let ended = self.ends().await;
        assert!(ended.status.success(), "{ended:?}");
    }

    /// Waits until it ends by itself.
    pub(in crate::knowledge) async fn ends(mut self) -> Ended {
        let status = within("the end of the program", self.child.wait()).await.unwrap();
        Ended { status, said: self.log.text() }
    }
}

impl Log {
    fn new(folder: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { file: folder.join(format!("log-{number}.jsonl")) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.file).unwrap_or_default()).into_owned()
    }

    /// The last lines.
    fn end(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("\"/health\"")).collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn addr(&self) -> Option<SocketAddr> {
        let text = self.text();
        let line = text.lines().find(|line| line.contains("\"message\":\"listening\""))?;
        let line: Value = serde_json::from_str(line).ok()?;
        line["addr"].as_str()?.parse().ok()
    }
}

/// `lyceum serve` in a folder.
pub(in crate::knowledge) fn command(folder: &Path, data: &Path, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.arg("--data-dir").arg(data).args(["serve", "--listen", "127.0.0.1:0"]);
    prepare(&mut command, folder, variables);
    command
}

/// Sets the environment of a command: the folder, no settings of this machine, and the secret.
pub(in crate::knowledge) fn prepare(command: &mut Command, folder: &Path, variables: &[(&str, &str)]) {
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("WEBHOOK_SECRET", SECRET)
        // Most tests don't use vector search, and a model takes time to load.
        .env("LYCEUM_EMBEDDER", "none")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true);
}
