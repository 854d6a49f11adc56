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

/// The embedding model of a server.
pub(super) enum Embedder {
    /// None: lexical only.
    None,
    /// The built-in model, in this folder of models.
    Local(PathBuf),
}

impl Lyceum<'_> {
    /// The command of a server over stdio.
    pub(super) fn stdio(&self, skills: &Path, scratch: &Scratch) -> Result<Command> {
        let mut command = self.command(skills, scratch, &Embedder::None)?;
        command.arg("stdio");
        Ok(command)
    }

    /// Starts a server over HTTP, without a model.
    pub(super) fn serve(&self, skills: &Path, scratch: &Scratch) -> Result<LoggedServer> {
        self.serve_with(skills, scratch, &Embedder::None)
    }

    /// Starts a server over HTTP.
    pub(super) fn serve_with(
        &self,
        skills: &Path,
        scratch: &Scratch,
        embedder: &Embedder,
    ) -> Result<LoggedServer> {
        let log = scratch.path().join("server.log");
        let mut command = self.command(skills, scratch, embedder)?;
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        Ok(LoggedServer { server: Server::start(&mut command, &log)?, log })
    }

    /// The command, without lyceum's variables of the benchmark's environment.
    pub(super) fn command(&self, skills: &Path, scratch: &Scratch, embedder: &Embedder) -> Result<Command> {
        let mut command = Command::new(self.program);
        for name in
            ["SKILLS_REPO", "ANALYTICS_ENDPOINT", "REFRESH_INTERVAL_MINUTES", "LYCEUM_CONFIG", "LYCEUM_LOG"]
        {
            command.env_remove(name);
        }
        match embedder {
            Embedder::None => command.env("LYCEUM_EMBEDDER", "none"),
            Embedder::Local(models) => command.env("LYCEUM_EMBEDDER", "local").env("LYCEUM_MODELS", models),
        };
        command.env("SKILLS_DIR", skills).env("LYCEUM_DATA_DIR", scratch.folder("data")?);
        command.current_dir(scratch.path());
        Ok(command)
    }
}
