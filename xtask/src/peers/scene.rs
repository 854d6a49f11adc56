//! Where one meeting takes place: our programs, the peers' programs, and an empty home for both.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::install::Tools;
use crate::process;
use crate::programs::Programs;
use crate::repo::Repo;
use crate::scratch::Scratch;
use crate::server::Server;

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

    /// Starts the fixtures of the conformance suite behind our real router.
    pub(super) fn serve_fixtures(&self) -> Result<Server> {
        let mut command = self.command(self.programs.get("conformance")?)?;
        command.args(["--listen", "127.0.0.1:0"]);
        self.start(&mut command)
    }

    /// The words that start `lyceum stdio`, for a client that starts its server itself.
    pub(super) fn stdio(&self) -> Result<Vec<String>> {
        let data_dir = self.data_dir()?;
        let words = [self.programs.get("lyceum")?, Path::new("stdio"), Path::new("--data-dir"), &data_dir];
        let text = |word: &Path| word.to_str().map(str::to_owned).context("a path here is not UTF-8");
        words.into_iter().map(text).collect()
    }

    /// A command that sees nothing of this machine's settings: no variables but `PATH`, and an empty home.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let home = self.scratch.folder("home")?;
        let mut command = Command::new(program);
        command.env_clear().env("PATH", self.tools.search_path()?).env("HOME", &home).current_dir(&home);
        Ok(command)
    }

    /// Runs a peer that must succeed within the limit, and returns what it wrote to standard output.
    pub(super) fn output(&self, command: &mut Command, limit: Duration) -> Result<String> {
        process::output(command, self.scratch.path(), limit)
    }

    /// Runs a peer to its end, whatever its exit status.
    pub(super) fn finish(&self, command: &mut Command, limit: Duration) -> Result<process::Finished> {
        process::run(command, self.scratch.path(), limit)
    }

    fn start(&self, command: &mut Command) -> Result<Server> {
        Server::start(command, &self.scratch.path().join("server.log"))
    }

    fn data_dir(&self) -> Result<PathBuf> {
        self.scratch.folder("data")
    }
}
