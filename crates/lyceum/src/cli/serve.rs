//! `lyceum serve` and `lyceum stdio`: start-up and shutdown.

use std::{
    io::{IsTerminal, Write},
    net::SocketAddr,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use tokio::{net::TcpListener, signal};
use tokio_util::sync::CancellationToken;

use super::locations::RecognisedLocation;
use crate::{
    app::App,
    config::{Config, has_working_folder_file},
    http,
    mcp::serve_stdio,
};

/// How long shutdown waits for background tasks.
const TASKS_TIMEOUT: Duration = Duration::from_secs(5);

/// The bound listeners.
#[derive(Debug)]
pub struct Listening {
    /// The listener for clients.
    pub listener: TcpListener,
    /// Its address, with the actual port.
    pub addr: SocketAddr,
    /// The listener for operators, if configured.
    pub operators: Option<TcpListener>,
}

/// Binds the configured addresses.
pub async fn listen(config: &Config) -> anyhow::Result<Listening> {
    let address = config.listen;
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("can't listen on {address}; if another server uses it, choose another address with --listen, such as 127.0.0.1:0")
    })?;
    let addr = listener.local_addr()?;
    let operators = match config.operator_listen {
        Some(address) => {
            let bound = TcpListener::bind(address).await;
            Some(bound.with_context(|| format!("can't listen on {address} (server.operator_listen)"))?)
        }
        None => None,
    };
    Ok(Listening { listener, addr, operators })
}

/// Serves until SIGTERM or Ctrl-C, then shuts down gracefully.
pub async fn until_stopped(app: App, listening: Listening) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let signal_stop = stop.clone();
    let mut terminate = stop_signals()?;
    app.tasks.spawn(async move {
        terminate.recv().await;
        signal_stop.cancel();
    });
    app.start();
    tracing::info!(addr = %listening.addr, url = app.public_url(), "listening");
    serve_until(app, listening, stop).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Serves until `stop`, then drains in-flight requests and background tasks.
pub async fn serve_until(
    app: App,
    listening: Listening,
    stop: CancellationToken,
) -> Result<(), http::RouteError> {
    let table = Arc::new(http::RouteTable::new(http::routes(&app), &app)?);
    if let Some(operators) = listening.operators {
        app.tasks.spawn(http::serve_operators(app.clone(), table.clone(), operators));
    }
    http::serve(app.clone(), table, listening.listener, stop).await;
    app.tasks.finish(TASKS_TIMEOUT).await;
    Ok(())
}

#[tokio::main]
pub(super) async fn serve(config: Config, recognised: &[RecognisedLocation]) -> anyhow::Result<ExitCode> {
    let listening = listen(&config).await?;
    if let Some(file) = &config.file {
        tracing::info!(config.file = %file, "configuration loaded");
    }
    if config.auth.is_open() && !listening.addr.ip().is_loopback() {
        tracing::warn!(
            "everyone who can reach {} may call everything (auth.mode = \"open\"); add [auth], put an authenticating proxy in front, or listen on 127.0.0.1",
            listening.addr
        );
    }
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
    for location in recognised {
        tracing::info!("recognised {location}");
    }
    let app = App::new(config, listening.addr)?;
    greet(&app, recognised)?;
    until_stopped(app, listening).await?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn stdio(config: Config) -> anyhow::Result<ExitCode> {
    if !config.is_written {
        anyhow::bail!(
            "there is nothing to serve; set SKILLS_DIR to a folder of skills or SKILLS_REPO to a Git repository, \
             or name a configuration file with --config{}",
            if ignores_working_folder_file(&config) {
                "; stdio ignores the lyceum.toml in the working directory"
            } else {
                ""
            }
        );
    }
    if ignores_working_folder_file(&config) {
        tracing::info!(
            "ignoring lyceum.toml in the working directory; name it with --config if you trust it"
        );
    }
    let app = App::for_one_person(config)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let served: anyhow::Result<()> = runtime.block_on(async {
        app.start();
        let mut terminate = stop_signals()?;
        tokio::select! {
            served = serve_stdio(&app) => served.context("standard input or output failed")?,
            () = terminate.recv() => {}
        }
        app.tasks.finish(TASKS_TIMEOUT).await;
        Ok(())
    });
    // A blocking read of standard input can't be cancelled; waiting for it would keep the process alive.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Whether the working directory has a `lyceum.toml` that is ignored, because others may have put it there.
fn ignores_working_folder_file(config: &Config) -> bool {
    config.file.is_none() && has_working_folder_file()
}

/// Prints how to connect, if standard output is a terminal.
fn greet(app: &App, recognised: &[RecognisedLocation]) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    if !out.is_terminal() {
        return Ok(());
    }
    let url = app.public_url();
    if let Some(file) = &app.config.file {
        writeln!(out, "Using the configuration {file}.")?;
    }
    for location in recognised {
        writeln!(out, "Serving {location}.")?;
    }
    writeln!(out, "Lyceum listens on {url}\n\nConnect a client to {url}/mcp, for example:\n")?;
    writeln!(out, "    claude mcp add --transport http lyceum {url}/mcp\n")?;
    writeln!(out, "What is served, and what is left out:  curl {url}/   and   lyceum doctor\n")
}

/// The signals that stop the process.
struct StopSignals {
    #[cfg(unix)]
    terminate: signal::unix::Signal,
}

fn stop_signals() -> anyhow::Result<StopSignals> {
    Ok(StopSignals {
        #[cfg(unix)]
        terminate: signal::unix::signal(signal::unix::SignalKind::terminate())?,
    })
}

impl StopSignals {
    /// Waits for Ctrl-C or SIGTERM.
    async fn recv(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = signal::ctrl_c() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = signal::ctrl_c().await;
    }
}
