//! Starting the `git` program: the only place of this crate where a process starts.
//!
//! It runs in a process group of its own, sees only the variables that it needs, asks nobody, runs no hook, ends in
//! time, and what it writes comes back without secrets. Dropping the future ends the whole group.

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
pub(crate) use group::is_at_work;
pub(crate) use message::NOT_FOR_THIS_SERVER;
pub use message::{Fault, GitMessage};

/// How much of what git writes is kept, from its end.
const MAX_STDERR_BYTES: usize = 8 * 1024;

/// How long to wait for the rest of what was written once git has ended: a child that stays, such as an ssh master
/// connection, can hold the pipe open for hours.
const STDERR_DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// How long an ended process may take to be gone.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// What holds for every call, whatever stands in the configuration of the machine.
const CONFIG_ARGUMENTS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsync=all",
    "credential.useHttpPath=false",
    "fetch.fsckObjects=false",
    // A pack each time: loose objects would be synced to disk one by one.
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "gc.auto=6700",
    "gc.autoDetach=false",
    "gc.autoPackLimit=50",
    // For as long as somebody may read an earlier commit.
    "gc.pruneExpire=2.weeks.ago",
    "http.followRedirects=initial",
    // A server that packs a large repository sends one byte every five seconds.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "init.defaultBranch=main",
    // The format that objects are read from in process.
    "init.defaultRefFormat=files",
    "maintenance.autoDetach=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
];

/// The protocols that a repository may be fetched with.
const PROTOCOLS: &str = "https:http:ssh:git:file";

/// One call of git.
pub(crate) struct Order<'a> {
    /// The program.
    pub(crate) git: &'a Path,
    /// What to do.
    pub(crate) arguments: &'a [&'a OsStr],
    /// What to answer if the server asks; without it the machine's own helpers are asked.
    pub(crate) login: Option<&'a Login>,
    /// How long it may take.
    pub(crate) limit: Duration,
    /// The branch, for what is said of a failure.
    pub(crate) branch: &'a str,
}

/// Runs git; `started` is told its process group. Returns what it wrote.
pub(crate) async fn run(order: &Order<'_>, started: impl FnOnce(Pid)) -> Result<GitMessage, Error> {
    let mut command = command(order).map_err(Error::io("hand the token to git"))?;
    let mut child = command.spawn().map_err(Error::NoGit)?;
    // It holds the token's descriptor.
    drop(command);
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut group = Group::new(pid);
    if let Some(pid) = pid {
        started(pid);
    }
    let mut written = Vec::new();
    let waited = timeout(order.limit, wait(&mut child, &mut written)).await;
    let status = match waited {
        Ok(status) => status.map_err(Error::io("wait for git"))?,
        Err(_elapsed) => {
            group.end();
            let _reaped = timeout(EXIT_TIMEOUT, child.wait()).await;
            return Err(Error::TooSlow { limit: order.limit });
        }
    };
    let message = GitMessage::new(&written, order.login.map(|login| &login.token));
    if status.code().is_some() {
        // It came to its own end, and so do its children.
        group.leave();
    }
    if status.success() {
        return Ok(message);
    }
    let fault = message.fault();
    Err(Error::Git { fault, branch: order.branch.to_owned(), message })
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts git")]
fn command(order: &Order<'_>) -> io::Result<Command> {
    let mut command = Command::new(order.git);
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
    if let Some(login) = order.login {
        let (token, errand) = askpass::prepare(login)?;
        command.args(["-c", "credential.helper="]);
        command.env("GIT_ASKPASS", &login.askpass).env(ASKPASS_VARIABLE, errand);
        // Inherited by this child alone: no other process that starts meanwhile gets the descriptor.
        command.preserved_fds(vec![token]);
    }
    command.args(order.arguments);
    Ok(command)
}

/// Waits for the end, and keeps the end of what was written.
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
