//! Runs the `git` program: the only place of this crate that starts a process.
//!
//! It runs in its own process group, with an allowlisted environment, without prompts and hooks, and with a timeout.
//! Secrets are removed from its output. Dropping the future kills the whole group.

mod environment;
mod group;
mod message;

use std::{
    ffi::OsStr,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use command_fds::CommandFdExt;
use rustix::process::Pid;
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, Command},
    time::timeout,
};

use crate::{ASKPASS_VARIABLE, Error, askpass, repository::Login};
use group::Group;
pub(crate) use group::is_running;
pub(crate) use message::NOT_FOR_THIS_SERVER;
pub use message::{Fault, GitMessage};

/// How much of git's stderr to keep, from the end.
const MAX_STDERR_BYTES: usize = 8 * 1024;

/// How long to drain stderr after git has exited: a surviving child, such as an ssh master connection, can hold the
/// pipe open for hours.
const STDERR_DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// How long to wait for a killed process to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Settings of every invocation; they override the machine's Git configuration.
const CONFIG_ARGUMENTS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsync=all",
    "credential.useHttpPath=false",
    "fetch.fsckObjects=false",
    // Always store packs: loose objects would be fsynced one by one.
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "gc.auto=6700",
    "gc.autoDetach=false",
    "gc.autoPackLimit=50",
    // Readers may still hold an earlier commit.
    "gc.pruneExpire=2.weeks.ago",
    "http.followRedirects=initial",
    // A server packing a large repository sends one keep-alive byte every five seconds.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "init.defaultBranch=main",
    // The ref format that `gix` reads.
    "init.defaultRefFormat=files",
    "maintenance.autoDetach=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
];

/// Allowed transport protocols.
const PROTOCOLS: &str = "https:http:ssh:git:file";

/// One invocation of git.
pub(crate) struct Invocation<'a> {
    /// The program.
    pub(crate) git: &'a Path,
    /// The arguments.
    pub(crate) arguments: &'a [&'a OsStr],
    /// Credentials for the server; without them, git uses the machine's credential helpers.
    pub(crate) login: Option<&'a Login>,
    /// The timeout.
    pub(crate) limit: Duration,
    /// The branch, for error messages.
    pub(crate) branch: &'a str,
}

/// Runs git and calls `started` with its process group. Returns its stderr.
pub(crate) async fn run(invocation: &Invocation<'_>, started: impl FnOnce(Pid)) -> Result<GitMessage, Error> {
    let mut command = command(invocation).map_err(Error::io("pass the token to git"))?;
    let mut child = command.spawn().map_err(Error::NoGit)?;
    // Close the token's file descriptor.
    drop(command);
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut group = Group::new(pid);
    if let Some(pid) = pid {
        started(pid);
    }
    let mut written = Vec::new();
    let waited = timeout(invocation.limit, wait(&mut child, &mut written)).await;
    let status = match waited {
        Ok(status) => status.map_err(Error::io("wait for git"))?,
        Err(_elapsed) => {
            group.kill();
            let _reaped = timeout(EXIT_TIMEOUT, child.wait()).await;
            return Err(Error::TooSlow { limit: invocation.limit });
        }
    };
    let message = GitMessage::new(&written, invocation.login.map(|login| &login.token));
    if status.code().is_some() {
        // It exited by itself, and so will its children.
        group.disarm();
    }
    if status.success() {
        return Ok(message);
    }
    let fault = message.fault();
    Err(Error::Git { fault, branch: invocation.branch.to_owned(), message })
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts git")]
fn command(invocation: &Invocation<'_>) -> io::Result<Command> {
    let mut command = Command::new(invocation.git);
    for setting in CONFIG_ARGUMENTS {
        command.args(["-c", setting]);
    }
    command
        .env_clear()
        .envs(environment::inherited())
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(login) = invocation.login {
        let (token, token_ref) = askpass::prepare(login)?;
        command.args(["-c", "credential.helper="]);
        command.env("GIT_ASKPASS", &login.askpass).env(ASKPASS_VARIABLE, token_ref);
        // Inherited by this child only, not by processes started concurrently.
        command.preserved_fds(vec![token]);
    }
    command.args(invocation.arguments);
    Ok(command)
}

/// Waits for git to exit, collecting the end of its stderr.
async fn wait(child: &mut Child, written: &mut Vec<u8>) -> io::Result<ExitStatus> {
    let Some(mut stderr) = child.stderr.take() else { return child.wait().await };
    let reading = read(&mut stderr, written);
    tokio::pin!(reading);
    tokio::select! {
        () = &mut reading => child.wait().await,
        status = child.wait() => {
            let _rest = timeout(STDERR_DRAIN_TIMEOUT, reading).await;
            status
        }
    }
}

async fn read(stderr: &mut ChildStderr, written: &mut Vec<u8>) {
    let mut part = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut part).await {
        written.extend_from_slice(part.get(..length).unwrap_or_default());
        let surplus = written.len().saturating_sub(MAX_STDERR_BYTES);
        written.drain(..surplus);
    }
}
