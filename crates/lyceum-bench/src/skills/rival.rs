//! FastMCP, which also serves Agent Skills folders, on the same folders, for comparison.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::corpus::Corpus;
use super::lyceum::Lyceum;
use super::pipe::Pipe;
use crate::modern;
use lyceum_harness::process::Running;
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;

/// Name and version in the table.
pub(super) const NAME: &str = "FastMCP 4.1.2";

/// Timeout of the installation.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(600);

/// Starts of each server.
const STARTS: usize = 5;

/// FastMCP, installed.
pub(super) struct Rival {
    python: PathBuf,
    script: PathBuf,
}

/// Times of one server from its start, in milliseconds.
pub(super) struct ListTimes {
    /// Until the response to `server/discover`.
    pub(super) ready: f64,
    /// Until the last page of `resources/list`.
    pub(super) listed: f64,
}

/// Results of both servers, by start.
#[derive(Default)]
pub(super) struct SideBySide {
    pub(super) lyceum: Vec<ListTimes>,
    pub(super) rival: Vec<ListTimes>,
}

impl Rival {
    /// Installs FastMCP below `target`, unless it is installed.
    pub(super) fn install(repo: &Repo) -> Result<Self> {
        let folder = repo.path("target/bench/fastmcp");
        let requirements = repo.path("crates/lyceum-bench/src/skills/rival-requirements.txt");
        let wanted = fs::read_to_string(&requirements)?;
        let (stamp, python) = (folder.join("installed-from"), folder.join("bin/python"));
        if fs::read_to_string(&stamp).unwrap_or_default() != wanted {
            println!("installing {NAME}");
            let mut venv = Command::new("python3");
            run(venv.args(["-m", "venv", "--clear"]).arg(&folder))?;
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
            run(pip.arg(&requirements))?;
            fs::write(&stamp, wanted)?;
        }
        Ok(Self { python, script: repo.path("crates/lyceum-bench/src/skills/rival.py") })
    }

    /// Starts both servers, interleaved, on the Agent Skills of the corpus, and lists them.
    pub(super) fn measure(&self, lyceum: &Lyceum<'_>, corpus: &Corpus) -> Result<SideBySide> {
        let mut results = SideBySide::default();
        let skills = corpus.standard_skills();
        for _ in 0..STARTS {
            let scratch = Scratch::new()?;
            let mut command = lyceum.stdio(&corpus.root.join("packs"), &scratch)?;
            results.lyceum.push(listed(&mut command, &scratch, skills).context("lyceum")?);
            let mut command = Command::new(&self.python);
            command.arg(&self.script).args(&corpus.packs).current_dir(scratch.path());
            results.rival.push(listed(&mut command, &scratch, skills).context(NAME)?);
        }
        Ok(results)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = Running::start(command, Stdio::inherit(), Stdio::inherit())?.wait(INSTALL_TIMEOUT)?;
    ensure!(status.is_some_and(|status| status.success()), "{NAME} is not installed; use --without-rival");
    Ok(())
}

fn listed(command: &mut Command, scratch: &Scratch, skills: usize) -> Result<ListTimes> {
    let started = Instant::now();
    let mut pipe = Pipe::start(command, &scratch.path().join("server.log"))?;
    pipe.exchange(&modern::request(1, "server/discover", &json!({})).to_string())?;
    let ready = started.elapsed();
    let (mut count, mut params) = (0, json!({}));
    loop {
        let response: Value =
            serde_json::from_str(pipe.exchange(&modern::request(2, "resources/list", &params).to_string())?)?;
        let page = response.pointer("/result/resources").and_then(Value::as_array);
        let page = page.with_context(|| format!("not a list: {response}"))?;
        count += page.iter().filter(|one| is_skill(one)).count();
        match response.pointer("/result/nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    let listed = started.elapsed();
    ensure!(count == skills, "{count} of {skills} skills are listed");
    Ok(ListTimes { ready: ready.as_secs_f64() * 1000.0, listed: listed.as_secs_f64() * 1000.0 })
}

fn is_skill(resource: &Value) -> bool {
    resource.get("uri").and_then(Value::as_str).is_some_and(|uri| uri.ends_with("/SKILL.md"))
}
