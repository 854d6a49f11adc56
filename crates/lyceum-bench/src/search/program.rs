//! Runs `lyceum` with the configuration of the benchmark.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::workspace::{BRANCH, Workspace};
use lyceum_harness::process::{self, Running, command_line};
use lyceum_harness::server::Server;

/// Timeout of a model pull.
const PULL_TIMEOUT: Duration = Duration::from_secs(900);

/// Timeout of an evaluation: the first one embeds a whole corpus.
const EVAL_TIMEOUT: Duration = Duration::from_secs(1800);

/// The measured program.
pub(super) struct Program {
    file: PathBuf,
    /// Working folder, with outputs.
    folder: PathBuf,
    /// Shared folder of models.
    models: PathBuf,
}

impl Program {
    pub(super) fn new(file: PathBuf, workspace: &Workspace) -> Result<Self> {
        Ok(Self { file, folder: workspace.folder("lyceum")?, models: workspace.folder("models")? })
    }

    /// Pulls the model, unless it is installed.
    pub(super) fn pull(&self) -> Result<()> {
        let mut command = self.command(&self.folder.join("data"));
        self.run(command.args(["model", "pull"]), PULL_TIMEOUT).map(drop)
    }

    /// Runs `lyceum eval` on test sets; the index is cached.
    pub(super) fn eval(&self, sets: &[PathBuf], data: &Path) -> Result<Value> {
        let mut command = self.command(data);
        let output = self.run(command.args(["eval", "--json"]).args(sets), EVAL_TIMEOUT)?;
        serde_json::from_str(&output).with_context(|| format!("`lyceum eval` did not print JSON:\n{output}"))
    }

    /// Runs `lyceum embed` on a file of texts.
    pub(super) fn embed(&self, texts: &Path, limit: Duration) -> Result<Value> {
        let mut command = self.command(&self.folder.join("data"));
        command.args(["embed", "--stdin"]);
        let output = with_input(&mut command, texts, &self.folder, limit)?;
        serde_json::from_str(&output).with_context(|| format!("`lyceum embed` did not print JSON:\n{output}"))
    }

    /// Starts a server for a repository.
    pub(super) fn serve(&self, repository: &Path, data: &Path) -> Result<Server> {
        let config = self.folder.join("lyceum.toml");
        let text = format!(
            "[[source]]\nname = \"bench\"\nurl = {}\nbranch = {BRANCH:?}\n\n\
             [knowledge]\nsource = \"bench\"\npublish = \"all\"\n",
            toml::Value::from(repository.display().to_string())
        );
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        let mut command = self.command(data);
        command.arg("--config").arg(&config).args(["serve", "--listen", "127.0.0.1:0"]);
        let log = self.folder.join("server.log");
        // Truncate the log: an old line would name the port of an earlier server.
        fs::write(&log, "")?;
        Server::start(&mut command, &log)
    }

    fn run(&self, command: &mut Command, limit: Duration) -> Result<String> {
        // Stderr shows progress on the terminal.
        let out = self.folder.join("stdout");
        let stdout = File::create(&out).with_context(|| format!("could not write {}", out.display()))?;
        let mut running = Running::start(command, stdout.into(), Stdio::inherit())?;
        let status = running.wait(limit)?;
        let output = fs::read_to_string(&out)?;
        let line = command_line(command);
        ensure!(status.is_some(), "timed out after {limit:?}: `{line}`");
        ensure!(status.is_some_and(|status| status.success()), "`{line}` failed:\n{output}");
        Ok(output)
    }

    /// The command, without lyceum's variables of the benchmark's environment.
    fn command(&self, data: &Path) -> Command {
        let mut command = Command::new(&self.file);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["LYCEUM_", "SKILLS_"].iter().any(|start| text.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command.env("LYCEUM_MODELS", &self.models).arg("--data-dir").arg(data).current_dir(&self.folder);
        command
    }
}

/// Runs a command with a file as stdin and returns its output.
pub(super) fn with_input(
    command: &mut Command,
    input: &Path,
    folder: &Path,
    limit: Duration,
) -> Result<String> {
    // `process` does not support stdin, so a shell redirects it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" < \"$0\""]).arg(input).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    process::output(&mut shell, folder, limit)
}
