//! The supervisor of a run as a process of the server's.

use std::{io, os::fd::OwnedFd, os::unix::net::UnixStream as StdUnixStream, process::Stdio, time::Duration};

use tokio::{
    net::UnixStream,
    process::{Child, ChildStderr, ChildStdout, Command},
    runtime::Handle,
    time::timeout,
};

use super::Helper;

/// How long a supervisor that has nothing more to do may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long it may take to end a run that nobody waits for any more: longer than it gives itself.
const ABANDONED_TIMEOUT: Duration = Duration::from_secs(12);

/// A supervisor. It ends the run when its control socket is closed, which is better than to kill it: only then nothing is
/// left behind. One that is dropped and has not done so in time is killed, and its script with it.
pub(super) struct Supervisor {
    /// Nothing once it was left to itself.
    child: Option<Child>,
}

impl Supervisor {
    /// Starts it. It gets no environment of the server, and no key press of the server's terminal.
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

    /// Standard output and error of the script. They can be had once.
    pub(super) fn streams(&mut self) -> Option<(ChildStdout, ChildStderr)> {
        let child = self.child.as_mut()?;
        child.stdout.take().zip(child.stderr.take())
    }

    /// Waits for it, when it has nothing more to do than to end.
    pub(super) async fn end(&mut self) {
        if let Some(child) = &mut self.child {
            end_within(EXIT_TIMEOUT, child).await;
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // One that has ended has no number any more.
        let Some(mut child) = self.child.take().filter(|child| child.id().is_some()) else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { end_within(ABANDONED_TIMEOUT, &mut child).await });
        }
    }
}

async fn end_within(patience: Duration, child: &mut Child) {
    if timeout(patience, child.wait()).await.is_err() {
        let _gone_already = child.start_kill();
        let _unkillable = timeout(EXIT_TIMEOUT, child.wait()).await;
    }
}
