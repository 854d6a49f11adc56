//! `cargo xtask bench compare`: two builds of `lyceum`, loaded in turn, so that the noise of the machine affects both alike.
//!
//! The builds may be far apart, so only flags, variables and requests that every version knows are used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::auth::free_address;
use crate::figures::{median, ratio};
use crate::skills::write_corpus;
use crate::{modern, wrk};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

const ACCEPT: &str = "application/json, text/event-stream";

/// Environment variable of the API key.
const KEY: &str = "LYCEUM_KEY_BENCH";

/// Number of skills.
const SKILLS: usize = 5_000;

/// How long indexing and embedding may take, unmeasured.
const READY_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Timeout of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Options of the comparison.
#[derive(Args)]
pub(crate) struct Options {
    /// The earlier build.
    #[arg(long, value_name = "FILE")]
    before: PathBuf,
    /// The later build.
    #[arg(long, value_name = "FILE")]
    after: PathBuf,
    /// Folder of markdown files to search.
    #[arg(long, value_name = "FOLDER")]
    documents: PathBuf,
    /// Folder of embedding models; without it, only lexical search is measured.
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Seconds per build, load and round.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=10))]
    seconds: u64,
    /// Rounds; the median of their ratios is reported.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=30))]
    rounds: u32,
    /// Waits until this file is gone before it measures, after everything is indexed.
    #[arg(long, value_name = "FILE")]
    wait_for: Option<PathBuf>,
}

/// A request, sent to a server of each build.
struct Load {
    name: &'static str,
    request: Request,
    servers: [Server; 2],
    measured: [Vec<f64>; 2],
}

/// Runs the comparison and prints a table.
pub(crate) fn run(options: &Options) -> Result<()> {
    wrk::must_be_installed()?;
    let scratch = Scratch::new()?;
    let builds = [
        Build { program: std::path::absolute(&options.before)?, folder: scratch.folder("before")? },
        Build { program: std::path::absolute(&options.after)?, folder: scratch.folder("after")? },
    ];
    let mut loads = loads(options, &builds, &scratch)?;
    for load in &loads {
        load.wait_until_ready()?;
    }
    if let Some(file) = &options.wait_for {
        println!("ready; waiting until {} is gone", file.display());
        while file.exists() {
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    let time = Duration::from_secs(options.seconds);
    for round in 0..=options.rounds {
        for load in &mut loads {
            // Round 0 warms up; then the order alternates.
            load.measure(round, time, &scratch)?;
        }
    }
    println!("\n| load | before | after | after / before |\n|---|---|---|---|");
    for Load { name, measured: [before, after], .. } in &loads {
        let change = ratio(after, before);
        let per_second = |values: &[f64]| format!("{:.0} req/s", median(values.to_vec()));
        println!("| {name} | {} | {} | {change:.3} |", per_second(before), per_second(after));
    }
    println!("\nwrk, 1 thread, 64 connections, median of {} × {} s in turn", options.rounds, options.seconds);
    Ok(())
}

fn loads(options: &Options, builds: &[Build; 2], scratch: &Scratch) -> Result<Vec<Load>> {
    let info = modern::post(ACCEPT, &modern::call(1, "server_info", &json!({})));
    let search = Request::get("/api/v1/search?q=how%20do%20I%20center%20a%20box&limit=5");
    let mut loads = vec![Load::new("server_info", info.clone(), builds, Build::example)?];
    let key = builds[0].new_key()?;
    let mut with_key = info;
    with_key.headers.push(("Authorization", format!("Bearer {key}")));
    loads.push(Load::new("server_info with an API key", with_key, builds, |build| build.gated(&key))?);
    let documents = |models: Option<&Path>| {
        let folder = options.documents.clone();
        let models = models.map(Path::to_owned);
        move |build: &Build| build.documents(&folder, models.as_deref())
    };
    loads.push(Load::new("lexical search", search.clone(), builds, documents(None))?);
    if let Some(models) = &options.models {
        loads.push(Load::new("hybrid search", search, builds, documents(Some(models)))?);
    }
    let (skills, task) = write_corpus(scratch.folder("skills")?, SKILLS)?;
    let skill = modern::post(ACCEPT, &modern::call(1, "get_skill", &json!({ "context": task })));
    loads.push(Load::new("get_skill of 5,000, by keywords", skill, builds, |build| build.skills(&skills))?);
    Ok(loads)
}

impl Load {
    fn new(
        name: &'static str,
        request: Request,
        builds: &[Build; 2],
        start: impl Fn(&Build) -> Result<Server>,
    ) -> Result<Self> {
        let [before, after] = builds;
        let servers = [start(before)?, start(after)?];
        Ok(Self { name, request, servers, measured: Default::default() })
    }

    /// Waits until both servers have indexed and embedded everything, and answer the request.
    fn wait_until_ready(&self) -> Result<()> {
        for server in &self.servers {
            let started = Instant::now();
            loop {
                let reason = self.not_ready(server)?;
                let Some(reason) = reason else { break };
                ensure!(started.elapsed() < READY_TIMEOUT, "{}: not ready: {reason}", self.name);
                std::thread::sleep(Duration::from_millis(500));
            }
            println!("{}: {} is ready", self.name, server.addr);
        }
        Ok(())
    }

    fn not_ready(&self, server: &Server) -> Result<Option<String>> {
        if exchange::send(server.addr, &Request::get("/readyz"))?.status != 200 {
            return Ok(Some("/readyz".to_owned()));
        }
        let health: Value =
            serde_json::from_str(&exchange::send(server.addr, &Request::get("/health"))?.body)?;
        let search = health.get("search").filter(|_| self.name.contains("search"));
        let state = search.and_then(|search| search.get("state")).and_then(Value::as_str);
        if let Some(state) = state.filter(|state| *state != "ready") {
            return Ok(Some(format!("search is {state}: {health}")));
        }
        let response = exchange::send(server.addr, &self.request)?;
        let is_error = response.body.contains("\"isError\":true") || response.body.contains("\"results\":[]");
        Ok((response.status != 200 || is_error).then_some(response.body))
    }

    fn measure(&mut self, round: u32, time: Duration, scratch: &Scratch) -> Result<()> {
        let order = if round.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        for at in order {
            let (Some(server), Some(measured)) = (self.servers.get(at), self.measured.get_mut(at)) else {
                continue;
            };
            let loaded = wrk::load(server.addr, &self.request, scratch.path(), time);
            let per_second = loaded.with_context(|| format!("could not measure {}", self.name))?.per_second();
            server.truncate_log()?;
            if round > 0 {
                measured.push(per_second);
            }
        }
        if let (true, [Some(before), Some(after)]) =
            (round > 0, self.measured.each_ref().map(|one| one.last()))
        {
            println!("round {round}: {:<32} {before:>8.0} {after:>8.0} req/s", self.name);
        }
        Ok(())
    }
}

/// A build, and the folder of its data.
struct Build {
    program: PathBuf,
    folder: PathBuf,
}

impl Build {
    /// Serves the bundled example to everyone.
    fn example(&self) -> Result<Server> {
        self.serve("example", |_| ())
    }

    /// Serves the bundled example to callers with a key.
    fn gated(&self, key: &str) -> Result<Server> {
        let addr = free_address()?;
        let config = self.folder.join("gated.toml");
        let text = format!(
            "[server]\npublic_url = \"http://{addr}\"\n\n[auth]\nmode = \"api-key\"\n\n\
             [[auth.api_key]]\nname = \"bench\"\ntier = \"member\"\nkey_env = {KEY:?}\n"
        );
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        self.serve("gated", |command| {
            command.env(KEY, key).env("LYCEUM_LISTEN", addr.to_string()).arg("--config").arg(&config);
        })
    }

    /// Serves a folder of documents.
    fn documents(&self, folder: &Path, models: Option<&Path>) -> Result<Server> {
        match models {
            None => self.serve("lexical", |command| {
                command.arg(folder);
            }),
            Some(models) => self.serve("hybrid", |command| {
                command.env("LYCEUM_EMBEDDER", "local").env("LYCEUM_MODELS", models).arg(folder);
            }),
        }
    }

    /// Serves skills.
    fn skills(&self, folder: &Path) -> Result<Server> {
        self.serve("skills", |command| {
            command.env("SKILLS_DIR", folder);
        })
    }

    fn serve(&self, name: &str, change: impl FnOnce(&mut Command)) -> Result<Server> {
        let mut command = self.command();
        command
            .env("LYCEUM_LISTEN", "127.0.0.1:0")
            .env("LYCEUM_DATA_DIR", self.folder.join(name))
            .arg("serve");
        change(&mut command);
        Server::start(&mut command, &self.folder.join(format!("{name}.log")))
    }

    fn new_key(&self) -> Result<String> {
        let output = process::output(self.command().arg("key"), &self.folder, COMMAND_TIMEOUT)?;
        Ok(output.trim().to_owned())
    }

    /// The program with an empty environment.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("LYCEUM_EMBEDDER", "none").current_dir(&self.folder);
        command
    }
}
