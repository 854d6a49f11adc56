//! A server under test: started on a free port, found by its `listening` log line, killed on drop.

use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::process::{Running, command_line};

/// How long a server may take to start; far more than ours need, even in a busy CI.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A running server.
pub struct Server {
    /// The address it listens on.
    pub addr: SocketAddr,
    running: Running,
    log: PathBuf,
}

impl Server {
    /// Starts the command and waits until it listens. Its standard error goes to `log`.
    pub fn start(command: &mut Command, log: &Path) -> Result<Self> {
        // Append mode allows truncating the log while the server writes to it.
        let file = OpenOptions::new().create(true).append(true).open(log);
        let file = file.with_context(|| format!("could not write {}", log.display()))?;
        let mut running = Running::start(command, Stdio::null(), file.into())?;
        let started = Instant::now();
        while started.elapsed() < START_TIMEOUT {
            let ended = running.ended()?;
            let text = fs::read_to_string(log).unwrap_or_default();
            if let Some(addr) = listening(&text) {
                return Ok(Self { addr, running, log: log.to_path_buf() });
            }
            if let Some(status) = ended {
                bail!("the server ended at once ({status}): `{}`\n{text}", command_line(command));
            }
            // Short, because the start-up benchmark uses this loop.
            std::thread::sleep(Duration::from_micros(300));
        }
        let text = fs::read_to_string(log).unwrap_or_default();
        bail!("no `listening` line after {START_TIMEOUT:?}: `{}`\n{text}", command_line(command))
    }

    /// The MCP endpoint.
    pub fn mcp_url(&self) -> String {
        format!("http://{}/mcp", self.addr)
    }

    /// Adds the log of the server to an error: the cause is often there.
    pub fn explain<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            anyhow!("{error:#}\nthe server's log:\n{log}")
        })
    }

    /// Truncates the log: a benchmark writes a line per request, hundreds of megabytes in all.
    pub fn truncate_log(&self) -> Result<()> {
        let file = OpenOptions::new().write(true).open(&self.log)?;
        file.set_len(0).context("could not truncate the log of the server")
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Resident memory in KiB. Linux only.
    pub fn resident_kib(&self) -> Result<u64> {
        let path = format!("/proc/{}/status", self.running.id());
        let status =
            fs::read_to_string(&path).with_context(|| format!("memory is read from {path}: run on Linux"))?;
        resident(&status).with_context(|| format!("no VmRSS in {path}"))
    }
}

/// The address in the `listening` log line; fields are at the top level or below `fields`.
fn listening(log: &str) -> Option<SocketAddr> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter(|line| field(line, "message") == Some("listening"))
        .find_map(|line| field(&line, "addr")?.parse().ok())
}

fn field<'a>(line: &'a Value, name: &str) -> Option<&'a str> {
    line.get(name).or_else(|| line.get("fields")?.get(name))?.as_str()
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests;
