//! A real Git server over HTTP that requires a token.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::sample::{self, Sample};
use super::scene::{Scene, Target};
use lyceum_harness::server::Server;

/// The token of the repository. It looks like no real one, so that secret scanners ignore it.
pub(super) const TOKEN: &str = "sample-token-that-opens-one-door";

/// The server; stops on drop.
pub(super) struct GitServer {
    server: Server,
    log: PathBuf,
}

impl GitServer {
    /// Serves the sample.
    pub(super) fn start(scene: &Scene<'_>, sample: &Sample) -> Result<Self> {
        let mut command = scene.command(scene.tools.python())?;
        command.arg(scene.repo.path("tests/peers/git_server.py")).arg(sample.served());
        command.env("GIT_SERVER_TOKEN", TOKEN);
        let log = scene.folder("git-server")?.join("log");
        Ok(Self { server: Server::start(&mut command, &log)?, log })
    }

    /// The base URL.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.server.addr)
    }

    /// `lyceum stdio` with the skills of this server.
    pub(super) fn stdio(&self, scene: &Scene<'_>) -> Result<Target> {
        let url = format!("http://{}/{}", self.server.addr, sample::NAME);
        scene.stdio(&[("SKILLS_REPO", &url), ("GITHUB_TOKEN", TOKEN)])
    }

    /// Fails unless a request with the token succeeded.
    pub(super) fn was_requested(&self) -> Result<()> {
        let log = fs::read_to_string(&self.log).context("cannot read the log of the Git server")?;
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_authorized = |line: &Value| {
            line.get("authorized") == Some(&true.into()) && line.get("status") == Some(&200.into())
        };
        ensure!(
            lines.filter(is_authorized).count() > 0,
            "no authorized request; the log of the Git server:\n{log}"
        );
        Ok(())
    }
}
