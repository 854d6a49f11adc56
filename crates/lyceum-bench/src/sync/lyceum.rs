//! The program on one repository: `lyceum sync` to its end, `lyceum serve` until it is dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::material::{Material, Publishing};
use super::origin::BRANCH;
use super::told::{self, Told};
use crate::memory;
use lyceum_harness::process::Running;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// The longest that one sync may take.
const LIMIT: Duration = Duration::from_secs(1200);

/// How often is looked whether a sync has ended: this is how exact its time is.
const LOOK: Duration = Duration::from_micros(500);

/// How often its memory is looked at; a figure that only grows.
const LOOK_AT_MEMORY: Duration = Duration::from_millis(10);

/// The program and its configuration.
pub(super) struct Lyceum<'a> {
    program: &'a Path,
    config: PathBuf,
    folder: PathBuf,
}

/// One `lyceum sync`.
pub(super) struct Synced {
    /// From its start to its end, in milliseconds.
    pub(super) wall: f64,
    /// The most memory that it held; that of the `git` it starts is not in it.
    pub(super) peak_kib: u64,
    pub(super) told: Told,
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
    pub(super) fn sync(&self, data: &Path) -> Result<Synced> {
        let (out, err) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let mut command = self.command("sync", data);
        let (stdout, stderr) = (File::create(&out)?, File::create(&err)?);
        let started = Instant::now();
        let mut running = Running::start(&mut command, stdout.into(), stderr.into())?;
        let (mut peak_kib, mut looked) = (0, started);
        let status = loop {
            if let Some(status) = running.ended()? {
                break status;
            }
            if started.elapsed() > LIMIT {
                bail!("`lyceum sync` has not ended after {LIMIT:?}");
            }
            if looked.elapsed() > LOOK_AT_MEMORY {
                looked = Instant::now();
                peak_kib = memory::peak_kib(running.id()).unwrap_or(peak_kib);
            }
            std::thread::sleep(LOOK);
        };
        let wall = started.elapsed().as_secs_f64() * 1000.0;
        let said = fs::read_to_string(&out)?;
        if !status.success() {
            bail!("`lyceum sync` failed ({status}):\n{said}{}", fs::read_to_string(&err)?);
        }
        let told = told::parse(&said).with_context(|| format!("no report of `lyceum sync`:\n{said}"))?;
        Ok(Synced { wall, peak_kib, told })
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
