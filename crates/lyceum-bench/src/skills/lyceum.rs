//! Starts `lyceum` on a folder of skills.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// The measured program.
pub(super) struct Lyceum<'a> {
    pub(super) program: &'a Path,
}

/// A server and its log file.
pub(super) struct LoggedServer {
    pub(super) server: Server,
    pub(super) log: PathBuf,
}

impl Lyceum<'_> {
    /// The command of a server over stdio.
    pub(super) fn stdio(&self, skills: &Path, scratch: &Scratch) -> Result<Command> {
        let mut command = self.command(skills, scratch)?;
        command.arg("stdio");
        Ok(command)
    }

    /// Starts a server over HTTP.
    pub(super) fn serve(&self, skills: &Path, scratch: &Scratch) -> Result<LoggedServer> {
        let log = scratch.path().join("server.log");
        let mut command = self.command(skills, scratch)?;
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        Ok(LoggedServer { server: Server::start(&mut command, &log)?, log })
    }

    /// The command, without lyceum's variables of the benchmark's environment.
    fn command(&self, skills: &Path, scratch: &Scratch) -> Result<Command> {
        let mut command = Command::new(self.program);
        for name in
            ["SKILLS_REPO", "ANALYTICS_ENDPOINT", "REFRESH_INTERVAL_MINUTES", "LYCEUM_CONFIG", "LYCEUM_LOG"]
        {
            command.env_remove(name);
        }
        command
            .env("LYCEUM_EMBEDDER", "none")
            .env("SKILLS_DIR", skills)
            .env("LYCEUM_DATA_DIR", scratch.folder("data")?);
        command.current_dir(scratch.path());
        Ok(command)
    }
}
