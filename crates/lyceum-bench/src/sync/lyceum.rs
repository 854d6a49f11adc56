//! The program on one repository: `lyceum sync` to its end, `lyceum serve` until it is dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::material::{Material, Publishing};
use super::origin::BRANCH;
use super::sync_report::{self, SyncReport};
use crate::memory;
use lyceum_harness::process::Running;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// The longest that one sync may take.
const SYNC_TIMEOUT: Duration = Duration::from_secs(1200);

/// How often is looked whether a sync has ended: this is how exact its time is.
const EXIT_POLL_INTERVAL: Duration = Duration::from_micros(500);

/// How often its memory is looked at; a figure that only grows.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The program and its configuration.
pub(super) struct Lyceum<'a> {
    program: &'a Path,
    config: PathBuf,
    folder: PathBuf,
}

/// One `lyceum sync`.
pub(super) struct SyncRun {
    /// From its start to its end, in milliseconds.
    pub(super) wall: f64,
    /// The most memory that it held; that of the `git` it starts is not in it.
    pub(super) peak_kib: u64,
    pub(super) report: SyncReport,
}

impl<'a> Lyceum<'a> {
    /// Writes the configuration.
    pub(super) fn new(
        program: &'a Path,
        origin: &Path,
        material: &Material,
        scratch: &Scratch,
    ) -> Result<Self> {
        let folder = scratch.folder("lyceum")?;
        let config = folder.join("lyceum.toml");
        // What Rust quotes, TOML takes: there is nothing but plain letters in the path of a temporary folder.
        let text = format!(
            "[[source]]\nname = \"bench\"\nurl = {origin:?}\nbranch = {BRANCH:?}\n\n\
             [knowledge]\nsource = \"bench\"\npublish_by_default = {}\n",
            material.publishing == Publishing::ByDefault
        );
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        Ok(Self { program, config, folder })
    }

    /// Syncs into a data folder.
    pub(super) fn sync(&self, data: &Path) -> Result<SyncRun> {
        let (out, err) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let mut command = self.command("sync", data);
        let (stdout, stderr) = (File::create(&out)?, File::create(&err)?);
        let started = Instant::now();
        let mut running = Running::start(&mut command, stdout.into(), stderr.into())?;
        let (mut peak_kib, mut measured_at) = (0, started);
        let status = loop {
            if let Some(status) = running.ended()? {
                break status;
            }
            if started.elapsed() > SYNC_TIMEOUT {
                bail!("`lyceum sync` has not ended after {SYNC_TIMEOUT:?}");
            }
            if measured_at.elapsed() > MEMORY_POLL_INTERVAL {
                measured_at = Instant::now();
                peak_kib = memory::peak_kib(running.id()).unwrap_or(peak_kib);
            }
            std::thread::sleep(EXIT_POLL_INTERVAL);
        };
        let wall = started.elapsed().as_secs_f64() * 1000.0;
        let output = fs::read_to_string(&out)?;
        if !status.success() {
            bail!("`lyceum sync` failed ({status}):\n{output}{}", fs::read_to_string(&err)?);
        }
        let report =
            sync_report::parse(&output).with_context(|| format!("no report of `lyceum sync`:\n{output}"))?;
        Ok(SyncRun { wall, peak_kib, report })
    }

    /// Starts a server on a data folder.
    pub(super) fn serve(&self, data: &Path) -> Result<Server> {
        let mut command = self.command("serve", data);
        command.args(["--listen", "127.0.0.1:0"]);
        let log = self.folder.join("server.log");
        // A line of an earlier server would name its port.
        fs::write(&log, "")?;
        Server::start(&mut command, &log)
    }

    /// Only what is set here counts, whatever the environment of the benchmark says.
    fn command(&self, verb: &str, data: &Path) -> Command {
        let mut command = Command::new(self.program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["LYCEUM_", "SKILLS_"].iter().any(|start| text.starts_with(start)) {
                command.env_remove(name);
            }
        }
        // What is measured is syncing, not the model.
        command.env("LYCEUM_EMBEDDER", "none");
        command.arg(verb).arg("--config").arg(&self.config).arg("--data-dir").arg(data);
        command.current_dir(&self.folder);
        command
    }
}
