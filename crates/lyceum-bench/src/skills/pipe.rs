//! A server over stdio, as a client starts it: one message per line.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lyceum_harness::process::command_line;

/// Timeout of a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A running server; killed when dropped.
pub(super) struct Pipe {
    child: Child,
    /// A socket pair, as Node clients use: unlike pipes, it supports timeouts.
    stream: BufReader<UnixStream>,
    line: String,
}

impl Pipe {
    /// Starts the server. Its stderr goes to a file.
    pub(super) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let log = File::create(log).with_context(|| format!("could not write {}", log.display()))?;
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        ours.set_write_timeout(Some(RESPONSE_TIMEOUT))?;
        let input = OwnedFd::from(theirs.try_clone()?);
        let child = command.stdin(input).stdout(OwnedFd::from(theirs)).stderr(log).spawn();
        let child = child.with_context(|| format!("could not start `{}`", command_line(command)))?;
        // Close the command's copy of the socket; otherwise we would never see EOF.
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
        Ok(Self { child, stream: BufReader::with_capacity(64 * 1024, ours), line: String::new() })
    }

    /// Sends a message and reads the response.
    pub(super) fn exchange(&mut self, message: &str) -> Result<&str> {
        self.stream.get_mut().write_all(format!("{message}\n").as_bytes())?;
        self.line.clear();
        let read = self
            .stream
            .read_line(&mut self.line)
            .with_context(|| format!("no response within {RESPONSE_TIMEOUT:?}"))?;
        ensure!(read > 0, "the server exited");
        Ok(&self.line)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
