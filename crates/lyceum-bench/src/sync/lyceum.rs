//! Runs `lyceum sync` and `lyceum serve` on one repository.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::dataset::{Dataset, Publishing};
use super::origin::BRANCH;
use super::sync_report::{self, SyncReport};
use crate::memory;
use lyceum_harness::process::Running;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// Timeout of a sync.
const SYNC_TIMEOUT: Duration = Duration::from_secs(1200);

/// Polling interval for the end of a sync, which limits the precision of its time.
const EXIT_POLL_INTERVAL: Duration = Duration::from_micros(500);

/// Polling interval for peak memory.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The program and its configuration.
pub(super) struct Lyceum<'a> {
    program: &'a Path,
    config: PathBuf,
    folder: PathBuf,
}

/// One `lyceum sync`.
pub(super) struct SyncRun {
    /// Wall-clock time, in milliseconds.
    pub(super) wall: f64,
    /// Peak memory, without that of its `git` processes.
    pub(super) peak_kib: u64,
    pub(super) report: SyncReport,
}

impl<'a> Lyceum<'a> {
    /// Writes the configuration.
    pub(super) fn new(
        program: &'a Path,
        origin: &Path,
        dataset: &Dataset,
        scratch: &Scratch,
    ) -> Result<Self> {
        let folder = scratch.folder("lyceum")?;
        let config = folder.join("lyceum.toml");
        // Rust's quoting is valid TOML for the plain path of a temporary folder.
        let text = format!(
            "[[source]]\nname = \"bench\"\nurl = {origin:?}\nbranch = {BRANCH:?}\n\n\
             [knowledge]\nsource = \"bench\"\npublish = {:?}\n",
            if dataset.publishing == Publishing::ByDefault { "all" } else { "frontmatter" }
        );
        fs::write(&config, text).with_context(|| format!("could not write {}", config.display()))?;
        Ok(Self { program, config, folder })
    }

    /// Runs `lyceum sync` with a data folder.
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
                bail!("`lyceum sync` timed out after {SYNC_TIMEOUT:?}");
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
        let report = sync_report::parse(&output)
            .with_context(|| format!("could not parse the report of `lyceum sync`:\n{output}"))?;
        Ok(SyncRun { wall, peak_kib, report })
    }

    /// Starts a server on a data folder.
    pub(super) fn serve(&self, data: &Path) -> Result<Server> {
        let mut command = self.command("serve", data);
        command.args(["--listen", "127.0.0.1:0"]);
        let log = self.folder.join("server.log");
        // Truncate the log: an old line would name the port of an earlier server.
        fs::write(&log, "")?;
        Server::start(&mut command, &log)
    }

    /// The command, without lyceum's variables of the benchmark's environment.
    fn command(&self, verb: &str, data: &Path) -> Command {
        let mut command = Command::new(self.program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["LYCEUM_", "SKILLS_"].iter().any(|start| text.starts_with(start)) {
                command.env_remove(name);
            }
        }
        // Measure the sync, not the model.
        command.env("LYCEUM_EMBEDDER", "none");
        command.arg(verb).arg("--config").arg(&self.config).arg("--data-dir").arg(data);
        command.current_dir(&self.folder);
        command
    }
}
