//! Where one meeting takes place: our programs, the peers' programs, and an empty home for both.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, ensure};

use lyceum_harness::exchange::{self, Request};
use lyceum_harness::install::Tools;
use lyceum_harness::process;
use lyceum_harness::programs::Programs;
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// How long what is served may take to be there.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// The file that a server's log is kept in.
pub(super) const LOG_FILE: &str = "server.log";

/// How secrets of ours begin.
const SECRETS: [&str; 5] = ["lyc_at_", "lyc_rt_", "lyc_ac_", "lyc_key_", "lyc_cs_"];

/// What a client is told to connect to: a URL alone, or the words of a command and the variables that it gets.
pub(super) struct Target {
    pub(super) words: Vec<String>,
    pub(super) variables: BTreeMap<String, String>,
}

/// The surroundings of one check.
pub(super) struct Scene<'a> {
    pub(super) repo: &'a Repo,
    pub(super) tools: &'a Tools,
    programs: &'a Programs,
    scratch: Scratch,
}

impl<'a> Scene<'a> {
    /// Prepares an empty scene.
    pub(super) fn set(repo: &'a Repo, tools: &'a Tools, programs: &'a Programs) -> Result<Self> {
        Ok(Self { repo, tools, programs, scratch: Scratch::new()? })
    }

    /// Starts `lyceum serve` on a free port.
    pub(super) fn serve(&self) -> Result<Server> {
        let mut command = self.command(self.programs.get("lyceum")?)?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(self.data_dir()?);
        self.start(&mut command)
    }

    /// Starts `lyceum serve` with skills, and waits until they are there. `place` is the line of their source that
    /// says where it is.
    pub(super) fn serve_skills(&self, place: &str) -> Result<Server> {
        self.serve_source(place, "skills")
    }

    /// Starts `lyceum serve` with a knowledge base, and waits until it is there.
    pub(super) fn serve_knowledge(&self, folder: &Path) -> Result<Server> {
        let folder = folder.to_str().context("a path here is not UTF-8")?;
        self.serve_source(&format!("path = {}", toml::Value::from(folder)), "knowledge")
    }

    fn serve_source(&self, place: &str, service: &str) -> Result<Server> {
        let config = self.scratch.path().join("lyceum.toml");
        let text = format!("[[source]]\nname = \"sample\"\n{place}\n\n[{service}]\nsource = \"sample\"\n");
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        let mut command = self.command(self.programs.get("lyceum")?)?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(self.data_dir()?);
        let server = self.start(command.arg("--config").arg(config))?;
        server.explain(ready(&server)).map(|()| server)
    }

    /// Starts the fixtures of the conformance suite behind our real router.
    pub(super) fn serve_fixtures(&self) -> Result<Server> {
        let mut command = self.command(self.programs.get("conformance")?)?;
        command.args(["--listen", "127.0.0.1:0"]);
        self.start(&mut command)
    }

    /// `lyceum stdio`, for a client that starts its server itself.
    pub(super) fn stdio(&self, variables: &[(&str, &str)]) -> Result<Target> {
        let data_dir = self.data_dir()?;
        let words = [self.programs.get("lyceum")?, Path::new("stdio"), Path::new("--data-dir"), &data_dir];
        let text = |word: &Path| word.to_str().map(str::to_owned).context("a path here is not UTF-8");
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Ok(Target {
            words: words.into_iter().map(text).collect::<Result<_>>()?,
            variables: variables.collect(),
        })
    }

    /// Where a program of ours is, for a peer that starts it.
    pub(super) fn program(&self, name: &str) -> Result<&Path> {
        self.programs.get(name)
    }

    /// A program of ours that meets a peer by itself.
    pub(super) fn ours(&self, program: &str) -> Result<Command> {
        self.command(self.programs.get(program)?)
    }

    /// A command that sees nothing of this machine's settings: no variables but `PATH`, and an empty home.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let home = self.scratch.folder("home")?;
        let mut command = Command::new(program);
        command.env_clear().env("PATH", self.tools.search_path()?).env("HOME", &home).current_dir(&home);
        // No peer is about meaning, and a model takes its time.
        command.env("LYCEUM_EMBEDDER", "none");
        Ok(command)
    }

    /// Runs a peer that must succeed within the limit, and returns what it wrote to standard output.
    pub(super) fn output(&self, command: &mut Command, limit: Duration) -> Result<String> {
        process::output(command, self.scratch.path(), limit)
    }

    /// Runs a peer to its end, whatever its exit status.
    pub(super) fn finish(&self, command: &mut Command, limit: Duration) -> Result<process::ProcessOutput> {
        process::run(command, self.scratch.path(), limit)
    }

    /// Makes a folder of the scene, if it is not there yet.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        self.scratch.folder(name)
    }

    /// The folder for what must survive a restart of our programs.
    pub(super) fn data_dir(&self) -> Result<PathBuf> {
        self.folder("data")
    }

    /// Fails if a token, a code or a key of ours is in the log of a server of this scene.
    pub(super) fn logs_hold_no_secret(&self) -> Result<()> {
        for log in [self.log(), self.folder("config")?.join(LOG_FILE)] {
            let Ok(text) = fs::read_to_string(&log) else { continue };
            let leaked = text.lines().find(|line| SECRETS.iter().any(|secret| line.contains(secret)));
            ensure!(leaked.is_none(), "a secret is in the log: {}", leaked.unwrap_or_default());
        }
        Ok(())
    }

    fn log(&self) -> PathBuf {
        self.scratch.path().join(LOG_FILE)
    }

    fn start(&self, command: &mut Command) -> Result<Server> {
        Server::start(command, &self.log())
    }
}

/// Waits until a server says that requests may come: the first clone takes a moment.
pub(super) fn ready(server: &Server) -> Result<()> {
    let request = Request::get("/readyz");
    let started = Instant::now();
    loop {
        let answer = exchange::send(server.addr, &request)?;
        if answer.status == 200 {
            return Ok(());
        }
        ensure!(started.elapsed() < READY_TIMEOUT, "not ready after {READY_TIMEOUT:?}: {}", answer.body);
        thread::sleep(Duration::from_millis(20));
    }
}
