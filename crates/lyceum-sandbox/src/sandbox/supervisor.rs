//! The supervisor process of a run, as seen by the server.

use std::{io, os::fd::OwnedFd, os::unix::net::UnixStream as StdUnixStream, process::Stdio, time::Duration};

use tokio::{
    net::UnixStream,
    process::{Child, ChildStderr, ChildStdout, Command},
    runtime::Handle,
    time::timeout,
};

use super::Helper;

/// Timeout for a supervisor to exit when it is done.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for a supervisor to end an abandoned run: longer than its own.
const ABANDONED_TIMEOUT: Duration = Duration::from_secs(12);

/// A supervisor. It ends the run when its control socket is closed, which is better than killing it: only then it
/// cleans up. If it was dropped and doesn't exit in time, it is killed with its script.
pub(super) struct Supervisor {
    /// `None` once it was detached.
    child: Option<Child>,
}

impl Supervisor {
    /// Starts the process, with an empty environment and in its own process group, so that it gets no signals from
    /// the server's terminal.
    pub(super) fn start(helper: &Helper) -> io::Result<(UnixStream, Self)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let child = Command::new(&helper.program)
            .args(&helper.args)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok((UnixStream::from_std(ours)?, Self { child: Some(child) }))
    }

    /// Standard output and error of the script. Can be taken once.
    pub(super) fn streams(&mut self) -> Option<(ChildStdout, ChildStderr)> {
        let child = self.child.as_mut()?;
        child.stdout.take().zip(child.stderr.take())
    }

    /// Waits for a supervisor that is done to exit.
    pub(super) async fn wait(&mut self) {
        if let Some(child) = &mut self.child {
            wait_or_kill(EXIT_TIMEOUT, child).await;
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // A supervisor that has exited has no pid.
        let Some(mut child) = self.child.take().filter(|child| child.id().is_some()) else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { wait_or_kill(ABANDONED_TIMEOUT, &mut child).await });
        }
    }
}

async fn wait_or_kill(limit: Duration, child: &mut Child) {
    if timeout(limit, child.wait()).await.is_err() {
        let _gone_already = child.start_kill();
        let _unkillable = timeout(EXIT_TIMEOUT, child.wait()).await;
    }
}
