//! The signals that stop the process or reload its configuration.

use tokio::signal;

/// The signals that stop the process: Ctrl-C and SIGTERM, and SIGHUP where nothing can be reloaded.
pub(super) struct StopSignals {
    #[cfg(unix)]
    terminate: signal::unix::Signal,
    hangup: Option<HangupSignal>,
}

/// SIGHUP.
pub(super) struct HangupSignal {
    #[cfg(unix)]
    hangup: signal::unix::Signal,
}

impl StopSignals {
    /// Ctrl-C and SIGTERM.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            terminate: signal::unix::signal(signal::unix::SignalKind::terminate())?,
            hangup: None,
        })
    }

    /// Ctrl-C, SIGTERM and SIGHUP.
    pub(super) fn with_hangup() -> std::io::Result<Self> {
        Ok(Self { hangup: Some(HangupSignal::new()?), ..Self::new()? })
    }

    /// Waits for one of them.
    pub(super) async fn recv(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        #[cfg(unix)]
        tokio::select! {
            _ = signal::ctrl_c() => {}
            _ = self.terminate.recv() => {}
            () = hangup => {}
        }
        #[cfg(not(unix))]
        tokio::select! {
            _ = signal::ctrl_c() => {}
            () = hangup => {}
        }
    }
}

impl HangupSignal {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            hangup: signal::unix::signal(signal::unix::SignalKind::hangup())?,
        })
    }

    pub(super) async fn recv(&mut self) {
        #[cfg(unix)]
        if self.hangup.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}
