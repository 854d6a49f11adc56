//! `lyceum serve` and `lyceum stdio`: the process from start to end.

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

use crate::{
    app::App,
    config::{Config, passes_over_working_folder},
    http,
    mcp::serve_stdio,
};

/// How long background tasks may take to end.
const TASKS_TIMEOUT: Duration = Duration::from_secs(5);

/// A listener and the address it got.
#[derive(Debug)]
pub struct Listening {
    /// The listener.
    pub listener: TcpListener,
    /// Its address, with the port that was picked.
    pub addr: SocketAddr,
    /// The listener for operators, where there is one.
    pub operators: Option<TcpListener>,
}

/// Takes the address that the configuration names.
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

/// Serves until the process is told to stop, then stops in good order.
pub async fn until_stopped(app: App, listening: Listening) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let signalled = stop.clone();
    let mut terminate = terminations()?;
    app.tasks.spawn(async move {
        terminate.recv().await;
        signalled.cancel();
    });
    app.start();
    tracing::info!(addr = %listening.addr, url = app.public_url(), "listening");
    serve_until(app, listening, stop).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Serves until `stop`: lets what is under way finish, then what works in the background.
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
pub(super) async fn serve(config: Config) -> anyhow::Result<ExitCode> {
    let listening = listen(&config).await?;
    if let Some(file) = &config.file {
        tracing::info!(config.file = %file, "configuration read");
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
    let app = App::new(config, listening.addr)?;
    greet(&app)?;
    until_stopped(app, listening).await?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn stdio(config: Config) -> anyhow::Result<ExitCode> {
    if !config.is_written {
        anyhow::bail!(
            "there is nothing to serve; set SKILLS_DIR to a folder of skills or SKILLS_REPO to a Git repository, \
             or name a configuration file with --config{}",
            if is_left_out(&config) {
                "; stdio ignores the lyceum.toml in the working directory"
            } else {
                ""
            }
        );
    }
    if is_left_out(&config) {
        tracing::info!(
            "ignoring lyceum.toml in the working directory; name it with --config if you trust it"
        );
    }
    let app = App::for_one_person(config)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let served: anyhow::Result<()> = runtime.block_on(async {
        app.start();
        let mut terminate = terminations()?;
        tokio::select! {
            served = serve_stdio(&app) => served.context("standard input or output failed")?,
            () = terminate.recv() => {}
        }
        app.tasks.finish(TASKS_TIMEOUT).await;
        Ok(())
    });
    // A read of standard input can't be called off; waiting for it would keep the process alive.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Whether the working folder has a configuration that is not read, since others may have put it there.
fn is_left_out(config: &Config) -> bool {
    config.file.is_none() && passes_over_working_folder()
}

/// Says where to go next, to a person at a terminal.
fn greet(app: &App) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    if !out.is_terminal() {
        return Ok(());
    }
    let url = app.public_url();
    if let Some(file) = &app.config.file {
        writeln!(out, "The configuration is {file}.")?;
    }
    writeln!(out, "lyceum is at {url}\n\nConnect a client to {url}/mcp, for example:\n")?;
    writeln!(out, "    claude mcp add --transport http lyceum {url}/mcp\n")
}

/// The ways in which a process is told to stop.
struct Terminations {
    #[cfg(unix)]
    terminate: signal::unix::Signal,
}

fn terminations() -> anyhow::Result<Terminations> {
    Ok(Terminations {
        #[cfg(unix)]
        terminate: signal::unix::signal(signal::unix::SignalKind::terminate())?,
    })
}

impl Terminations {
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
