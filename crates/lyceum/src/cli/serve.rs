//! `lyceum serve` and `lyceum stdio`: start-up, reload and shutdown.

mod reload;
mod signals;

use std::{
    io::{IsTerminal, Write},
    net::SocketAddr,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use tokio::{net::TcpListener, task::block_in_place};
use tokio_util::sync::CancellationToken;

use super::{locations::RecognisedLocation, summary};
use crate::{
    app::App,
    config::{Config, Overrides, has_working_folder_file},
    http::{self, Current, Generation},
    mcp::serve_stdio,
    tasks::Tasks,
};
use signals::{HangupSignal, StopSignals};

pub(super) use reload::load;

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
    run(app, listening, None).await
}

/// Serves until SIGTERM or Ctrl-C; with overrides, SIGHUP reloads the configuration.
async fn run(app: App, listening: Listening, reloading: Option<Overrides>) -> anyhow::Result<()> {
    let (stop, tasks) = (CancellationToken::new(), Tasks::default());
    let signal_stop = stop.clone();
    let mut terminate = StopSignals::new()?;
    tasks.spawn(async move {
        terminate.recv().await;
        signal_stop.cancel();
    });
    let url = app.public_url();
    app.start();
    let current = Arc::new(Current::new(Generation::new(app)?));
    if let Some(overrides) = reloading {
        tasks.spawn(reload::on_hangup(HangupSignal::new()?, current.clone(), overrides, stop.clone()));
    }
    tracing::info!(addr = %listening.addr, url, "listening");
    serve_current(&current, listening, stop, tasks).await;
    tracing::info!("stopped");
    Ok(())
}

/// Serves until `stop`, then drains in-flight requests and background tasks.
pub async fn serve_until(
    app: App,
    listening: Listening,
    stop: CancellationToken,
) -> Result<(), http::RouteError> {
    let current = Arc::new(Current::new(Generation::new(app)?));
    serve_current(&current, listening, stop, Tasks::default()).await;
    Ok(())
}

/// Serves until `stop`. `tasks` are those of the process, whichever configuration is in use.
async fn serve_current(current: &Arc<Current>, listening: Listening, stop: CancellationToken, tasks: Tasks) {
    if let Some(operators) = listening.operators {
        tasks.spawn(http::serve_operators(current.clone(), tasks.clone(), operators));
    }
    http::serve(current.clone(), listening.listener, stop).await;
    let app = current.get().app.clone();
    tokio::join!(app.tasks.finish(TASKS_TIMEOUT), tasks.finish(TASKS_TIMEOUT));
}

#[tokio::main]
pub(super) async fn serve(
    config: Config,
    overrides: Overrides,
    recognised: Vec<RecognisedLocation>,
) -> anyhow::Result<ExitCode> {
    let listening = listen(&config).await?;
    if let Some(file) = &config.file {
        tracing::info!(config.file = %file, "configuration loaded");
    }
    warn_operator(&config, listening.addr);
    for location in &recognised {
        tracing::info!("recognised {location}");
    }
    // The database is not to be used on a thread that runs async tasks.
    let addr = listening.addr;
    let app = block_in_place(|| App::new(config, addr))?;
    greet(&app, &overrides, recognised)?;
    run(app, listening, Some(overrides)).await?;
    Ok(ExitCode::SUCCESS)
}

/// Logs what is risky in a configuration.
fn warn_operator(config: &Config, addr: SocketAddr) {
    if config.auth.is_open() && !addr.ip().is_loopback() {
        tracing::warn!(
            "everyone who can reach {addr} may call everything (auth.mode = \"open\"); add [auth], put an authenticating proxy in front, or listen on 127.0.0.1"
        );
    }
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
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
        let mut terminate = StopSignals::with_hangup()?;
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

/// If standard output is a terminal, prints where the server listens, and, after the first sync, what it serves.
fn greet(app: &App, overrides: &Overrides, recognised: Vec<RecognisedLocation>) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    if !out.is_terminal() {
        return Ok(());
    }
    if let Some(file) = &app.config.file {
        writeln!(out, "Using the configuration {file}.")?;
    }
    let url = app.public_url();
    writeln!(out, "Lyceum listens on {url}\n")?;
    let (greeted, overrides) = (app.clone(), overrides.clone());
    app.tasks.spawn(async move {
        let sections = summary::sections(
            greeted.services.iter(),
            &greeted.config,
            &recognised,
            summary::SUMMARY_TIMEOUT,
        )
        .await;
        // Where the log goes elsewhere, so does whoever reads it: a line for each source will do.
        let text: String = if std::io::stderr().is_terminal() {
            let sections =
                sections.iter().map(|section| format!("{}\n", section.lines())).collect::<String>();
            let next = summary::next_commands(&url, &greeted.config, &overrides, &recognised);
            format!("\n{sections}{next}\n")
        } else {
            sections.iter().map(summary::Section::line).collect()
        };
        // In one piece, so that log lines don't come in between.
        if let Err(error) = out.write_all(text.as_bytes()) {
            tracing::debug!(error.cause = %error, "could not print what is served");
        }
    });
    Ok(())
}
