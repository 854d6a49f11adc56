//! Reload on SIGHUP: builds the application anew from the configuration, and puts it in the place of the old one.
//!
//! The listener and all connections stay. If anything is wrong with the new configuration, the old one stays in use.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use tokio::{task::block_in_place, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{TASKS_TIMEOUT, signals::HangupSignal, warn_operator};
use crate::{
    app::App,
    config::{Config, Faults, Overrides, Purpose},
    http::{Current, Generation},
};

/// How long the new application may prepare itself before it takes over.
const READY_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it is asked whether it is ready.
const READY_INTERVAL: Duration = Duration::from_millis(20);

/// What a SIGHUP asks for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Reload,
    /// The terminal of the server was closed.
    Stop,
}

/// Loads the configuration of `lyceum serve`.
pub(in crate::cli) fn load(overrides: &Overrides) -> Result<Config, Faults> {
    let mut config = Config::load(overrides, Purpose::Serve)?.or_example()?;
    config.search.fetch = true;
    Ok(config)
}

/// Reloads at every SIGHUP; cancels `stop` if the terminal was closed.
pub(super) async fn on_hangup(
    mut hangup: HangupSignal,
    current: Arc<Current>,
    overrides: Overrides,
    stop: CancellationToken,
) {
    let had_terminal = io::stderr().is_terminal();
    loop {
        hangup.recv().await;
        match request(had_terminal, io::stderr().is_terminal()) {
            Request::Stop => return stop.cancel(),
            Request::Reload => reload(&current, &overrides).await,
        }
    }
}

fn request(had_terminal: bool, has_terminal: bool) -> Request {
    if had_terminal && !has_terminal { Request::Stop } else { Request::Reload }
}

/// Replaces the current application, if the new configuration is valid.
async fn reload(current: &Current, overrides: &Overrides) {
    let old = current.get().app.clone();
    let config = match next_config(&old.config, overrides) {
        Ok(config) => config,
        Err(faults) => {
            let count = faults.0.len();
            for fault in &faults.0 {
                tracing::error!("the configuration has an error: {fault}");
            }
            return tracing::error!(count, "not reloaded; still using the previous configuration");
        }
    };
    let next = match block_in_place(|| build(&old, config)) {
        Ok(next) => next,
        Err(error) => {
            let error = format!("{error:#}");
            return tracing::error!(
                error.cause = error,
                "not reloaded; still using the previous configuration"
            );
        }
    };
    next.app.start();
    until_ready(&next.app).await;
    warn_operator(&next.app.config, next.app.addr);
    let file = next.app.config.file.as_ref().map(ToString::to_string);
    drop(current.replace(next));
    tracing::info!(config.file = file, "configuration reloaded");
    old.retire(TASKS_TIMEOUT).await;
}

fn build(old: &App, config: Config) -> anyhow::Result<Generation> {
    Ok(Generation::new(old.reconfigured(config)?)?)
}

/// Loads the new configuration, with the old value of each key that can't change while the server runs.
fn next_config(old: &Config, overrides: &Overrides) -> Result<Config, Faults> {
    let new = load(overrides)?;
    let fixed = [
        ("server.listen", new.listen != old.listen),
        ("server.operator_listen", new.operator_listen != old.operator_listen),
        ("server.data_dir", new.data_dir != old.data_dir),
    ];
    let changed: Vec<&str> = fixed.into_iter().filter(|(_, is_new)| *is_new).map(|(key, _)| key).collect();
    if changed.is_empty() {
        return Ok(new);
    }
    for key in changed {
        tracing::warn!("{key} can't change while the server runs; restart it to apply the new value");
    }
    let (listen, data_dir) = (Some(old.listen.to_string()), Some(old.data_dir.clone()));
    let overrides = Overrides { listen, data_dir, ..overrides.clone() };
    Ok(Config { operator_listen: old.operator_listen, ..load(&overrides)? })
}

/// Waits until the services can answer, within a limit.
async fn until_ready(app: &App) {
    let deadline = Instant::now() + READY_TIMEOUT;
    while Instant::now() < deadline {
        let mut is_ready = true;
        for service in app.services.iter() {
            is_ready &= service.health().await.waiting_for.is_none();
        }
        if is_ready {
            return;
        }
        tokio::time::sleep(READY_INTERVAL).await;
    }
    tracing::info!("the new configuration is used before its first sync has ended");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_terminal_stops_the_server_and_any_other_hangup_reloads() {
        assert_eq!(request(true, false), Request::Stop);
        assert_eq!(request(true, true), Request::Reload);
        assert_eq!(request(false, false), Request::Reload);
    }
}
