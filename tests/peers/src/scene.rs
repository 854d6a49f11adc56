//! The environment of one check: our programs, the peers' programs, and an empty home folder.

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

/// How long a server may take to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// The file with the log of the server.
pub(super) const LOG_FILE: &str = "server.log";

/// Prefixes of our secrets.
const SECRETS: [&str; 5] = ["lyc_at_", "lyc_rt_", "lyc_ac_", "lyc_key_", "lyc_cs_"];

/// What a client connects to: a URL, or a command with environment variables.
pub(super) struct Target {
    pub(super) words: Vec<String>,
    pub(super) variables: BTreeMap<String, String>,
}

/// The environment of one check.
pub(super) struct Scene<'a> {
    pub(super) repo: &'a Repo,
    pub(super) tools: &'a Tools,
    programs: &'a Programs,
    scratch: Scratch,
}

impl<'a> Scene<'a> {
    /// Creates an empty environment.
    pub(super) fn set(repo: &'a Repo, tools: &'a Tools, programs: &'a Programs) -> Result<Self> {
        Ok(Self { repo, tools, programs, scratch: Scratch::new()? })
    }

    /// Starts `lyceum serve` on a free port.
    pub(super) fn serve(&self) -> Result<Server> {
        let mut command = self.command(self.programs.get("lyceum")?)?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(self.data_dir()?);
        self.start(&mut command)
    }

    /// Starts `lyceum serve` with skills, and waits until it is ready. `location` is the `url` or `path` line of their
    /// source.
    pub(super) fn serve_skills(&self, location: &str) -> Result<Server> {
        self.serve_source(location, "skills")
    }

    /// Starts `lyceum serve` with a knowledge base, and waits until it is ready.
    pub(super) fn serve_knowledge(&self, folder: &Path) -> Result<Server> {
        let folder = folder.to_str().context("a path here is not UTF-8")?;
        self.serve_source(&format!("path = {}", toml::Value::from(folder)), "knowledge")
    }

    fn serve_source(&self, location: &str, service: &str) -> Result<Server> {
        let config = self.scratch.path().join("lyceum.toml");
        let text = format!("[[source]]\nname = \"sample\"\n{location}\n\n[{service}]\nsource = \"sample\"\n");
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        let mut command = self.command(self.programs.get("lyceum")?)?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(self.data_dir()?);
        let server = self.start(command.arg("--config").arg(config))?;
        server.explain(ready(&server)).map(|()| server)
    }

    /// Starts the conformance fixtures behind the real router.
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

    /// The path of one of our programs, for a peer that starts it.
    pub(super) fn program(&self, name: &str) -> Result<&Path> {
        self.programs.get(name)
    }

    /// A command that runs one of our programs.
    pub(super) fn ours(&self, program: &str) -> Result<Command> {
        self.command(self.programs.get(program)?)
    }

    /// A command without the settings of this machine: no variables but `PATH`, and an empty home.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let home = self.scratch.folder("home")?;
        let mut command = Command::new(program);
        command.env_clear().env("PATH", self.tools.search_path()?).env("HOME", &home).current_dir(&home);
        // No peer tests vector search, and a model takes time to load.
        command.env("LYCEUM_EMBEDDER", "none");
        Ok(command)
    }

    /// Runs a peer that must succeed, and returns its standard output.
    pub(super) fn output(&self, command: &mut Command, limit: Duration) -> Result<String> {
        process::output(command, self.scratch.path(), limit)
    }

    /// Runs a peer to its end, whatever its exit status.
    pub(super) fn finish(&self, command: &mut Command, limit: Duration) -> Result<process::ProcessOutput> {
        process::run(command, self.scratch.path(), limit)
    }

    /// Creates a folder in the environment, if it does not exist.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        self.scratch.folder(name)
    }

    /// The data folder of our programs.
    pub(super) fn data_dir(&self) -> Result<PathBuf> {
        self.folder("data")
    }

    /// Fails if a server log of this check contains one of our secrets.
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

/// Waits until the server is ready: the first clone takes a moment.
pub(super) fn ready(server: &Server) -> Result<()> {
    let request = Request::get("/readyz");
    let started = Instant::now();
    loop {
        let response = exchange::send(server.addr, &request)?;
        if response.status == 200 {
            return Ok(());
        }
        ensure!(started.elapsed() < READY_TIMEOUT, "not ready after {READY_TIMEOUT:?}: {}", response.body);
        thread::sleep(Duration::from_millis(20));
    }
}
