//! Child processes that can't outlive us or block us.
//!
//! Output goes to files, not to pipes: a grandchild that keeps a pipe open would block the reader.
//! Children stay in our process group, so that Ctrl-C in a terminal reaches all of them.

mod tree;

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A running child. Dropping it kills the child and all its descendants, each by its id.
pub struct Running {
    child: Child,
}

/// Exit status and output of a child.
pub struct ProcessOutput {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Running {
    /// Starts a command with no input and the given outputs.
    pub fn start(command: &mut Command, stdout: Stdio, stderr: Stdio) -> Result<Self> {
        let line = command_line(command);
        let child = command
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("could not start `{line}`: check that the program is installed"))?;
        Ok(Self { child })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if it has ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("could not get the state of a child process")
    }

    /// Waits for the end; `None` on timeout.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = self.ended()? {
                return Ok(Some(status));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(None)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // The descendants are collected before the child is killed: orphans lose the link to their parent.
            let descendants = tree::descendants(self.child.id());
            let _ = self.child.kill();
            tree::kill(&descendants);
            let _ = self.child.wait();
        }
    }
}

/// Runs a command to its end, whatever its exit status, with its output in `folder`.
pub fn run(command: &mut Command, folder: &Path, limit: Duration) -> Result<ProcessOutput> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let mut running = Running::start(command, create(&out)?.into(), create(&err)?.into())?;
    let status = running.wait(limit)?;
    drop(running);
    let (stdout, stderr) = (read(&out)?, read(&err)?);
    match status {
        Some(status) => Ok(ProcessOutput { status, stdout, stderr }),
        None => bail!("timed out after {limit:?}: `{}`\n{stdout}{stderr}", command_line(command)),
    }
}

/// Runs a command that must succeed, and returns its standard output.
pub fn output(command: &mut Command, folder: &Path, limit: Duration) -> Result<String> {
    let finished = run(command, folder, limit)?;
    if finished.status.success() {
        return Ok(finished.stdout);
    }
    let ProcessOutput { status, stdout, stderr } = finished;
    bail!("{status}: `{}`\n{stdout}{stderr}", command_line(command))
}

/// Runs a command that must succeed, with its output on the terminal.
pub fn succeed(command: &mut Command, limit: Duration) -> Result<()> {
    let mut running = Running::start(command, Stdio::inherit(), Stdio::inherit())?;
    match running.wait(limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("`{}` ended with {status}", command_line(command)),
        None => bail!("timed out after {limit:?}: `{}`", command_line(command)),
    }
}

/// A command as it would be typed in a shell.
pub fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("could not write {}", path.display()))
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
