//! One upstream: its client, what it offers, and whether it is up.
//!
//! A background loop reads its lists, marks it as down when that fails, and tries again with backoff. Calls never decide that
//! an upstream is down: they only ask for a probe. While it is down, calls fail at once instead of waiting for a timeout.

use std::{sync::Arc, time::Duration};

use lyceum_net::{Backoff, ClientError, with_jitter};
use lyceum_tools::{Registry, RegistryError, ToolEntry};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    Endpoint, Fault, Settings, Skipped,
    catalog::{Catalog, Pages},
    http_service::HttpService,
    mcp_http::{McpHttp, Request},
};

/// Delay after the first failure.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// Longest `Retry-After` that is respected.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Minimum interval between two probes that calls ask for.
const MIN_PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// One upstream.
pub struct Upstream {
    pub(crate) settings: Settings,
    pub(crate) client: Client,
    state: watch::Sender<State>,
    probe: Notify,
    pub(crate) slots: Semaphore,
}

/// How an upstream is reached.
pub(crate) enum Client {
    Mcp(Arc<McpHttp>),
    Service(Box<HttpService>),
}

/// What is known of an upstream now.
#[derive(Debug, Clone)]
pub struct State {
    /// Why it can't be used; `None` if it can.
    pub fault: Option<Fault>,
    /// Number of consecutive failures.
    pub failures: u32,
    catalog: Arc<Catalog>,
}

impl State {
    /// Number of tools.
    pub fn tool_count(&self) -> usize {
        self.catalog.tools.len()
    }

    /// Tools that can't be offered.
    pub fn skipped(&self) -> &[Skipped] {
        &self.catalog.skipped
    }

    /// Whether it can be used.
    pub fn is_up(&self) -> bool {
        self.fault.is_none()
    }

    /// State, number of tools, and reasons, for `/health` and `server_info`.
    pub fn describe(&self) -> Map<String, Value> {
        let state = match &self.fault {
            None => "up",
            Some(Fault::Pending) => "connecting",
            Some(_) => "down",
        };
        let mut described = Map::from_iter([
            ("state".to_owned(), state.into()),
            ("tools".to_owned(), self.tool_count().into()),
        ]);
        if let Some(fault) = &self.fault {
            described.insert("reason".to_owned(), fault.reason().into());
            described.insert("error".to_owned(), fault.to_string().into());
        }
        if !self.skipped().is_empty() {
            let skipped = self.skipped().iter();
            let skipped = skipped.map(|one| json!({ "name": one.name, "reason": one.reason }));
            described.insert("skipped".to_owned(), skipped.collect());
        }
        described
    }
}

impl Upstream {
    /// Creates an upstream. Nothing is sent yet.
    pub fn new(settings: Settings) -> Result<Arc<Self>, ClientError> {
        let credential = settings.credential.as_ref();
        let (client, catalog, fault) = match &settings.endpoint {
            Endpoint::Mcp { url, protocol } => {
                let client = McpHttp::new(url.clone(), *protocol, credential, settings.limits)?;
                (Client::Mcp(Arc::new(client)), Catalog::default(), Some(Fault::Pending))
            }
            Endpoint::Service { url, tools } => {
                let client = HttpService::new(url.clone(), credential, settings.limits)?;
                (Client::Service(Box::new(client)), Catalog::declared(&settings, tools), None)
            }
        };
        let state = State { fault, failures: 0, catalog: Arc::new(catalog) };
        Ok(Arc::new(Self {
            slots: Semaphore::new(settings.limits.concurrent_calls),
            settings,
            client,
            state: watch::Sender::new(state),
            probe: Notify::new(),
        }))
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The current state, and its changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Its tools as a registry. While it is down they are not listed, but can be called: clients that know them get the
    /// reason.
    pub fn offer(self: &Arc<Self>) -> Result<Registry, RegistryError> {
        let State { fault, catalog, .. } = self.state.borrow().clone();
        let mut builder = Registry::builder().service(&self.settings.name);
        for tool in &catalog.tools {
            let (upstream, definition) = (self.clone(), tool.clone());
            let entry = ToolEntry::relayed(tool.spec.clone(), move |call, arguments| {
                let (upstream, definition) = (upstream.clone(), definition.clone());
                async move { upstream.call_tool(&definition, &call, arguments).await }
            })?;
            // Its own timeout ends the call before that of the transport.
            let limit = self.settings.limits.call + Duration::from_secs(1);
            let entry = entry.defined_by(tool.wire.clone()).within(limit);
            builder = builder.tool_entry(if fault.is_none() { entry } else { entry.unlisted() })?;
        }
        Ok(builder.build())
    }

    /// Keeps the state up to date until it is cancelled.
    pub async fn keep(self: Arc<Self>, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            let state = tokio::select! {
                () = stopping.cancelled() => return,
                state = self.refresh() => state,
            };
            let wait = self.wait_after(&state);
            tokio::select! {
                () = stopping.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
                () = self.probe.notified(), if state.is_up() => {
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = tokio::time::sleep(MIN_PROBE_INTERVAL) => {}
                    }
                }
            }
        }
    }

    /// Reads the lists now, and updates the state.
    pub async fn refresh(&self) -> State {
        let listed = tokio::time::timeout(self.settings.limits.list, self.list()).await;
        let listed = listed.unwrap_or(Err(Fault::Timeout(self.settings.limits.list)));
        let name = &self.settings.name;
        self.state.send_if_modified(|state| match listed {
            Ok(catalog) => {
                if let Some(fault) = state.fault.take().filter(|fault| *fault != Fault::Pending) {
                    tracing::info!(upstream = %name, tools = catalog.tools.len(), reason = fault.reason(), "upstream is up again");
                } else if state.catalog.fingerprint == catalog.fingerprint && state.failures == 0 {
                    return false;
                }
                for Skipped { name: tool, reason } in &catalog.skipped {
                    tracing::warn!(upstream = %name, tool, reason, "a tool of the upstream can't be offered");
                }
                *state = State { fault: None, failures: 0, catalog: Arc::new(catalog) };
                true
            }
            Err(fault) => {
                if state.fault.as_ref().is_none_or(|before| before.reason() != fault.reason()) {
                    tracing::warn!(upstream = %name, reason = fault.reason(), error.cause = %fault, "upstream is down; its tools are left out of lists");
                }
                state.failures = state.failures.saturating_add(1);
                let is_change = state.fault.as_ref() != Some(&fault);
                state.fault = Some(fault);
                is_change
            }
        });
        self.state.borrow().clone()
    }

    /// Asks for a probe: a call failed in a way that may concern the whole upstream.
    pub(crate) fn suspect(&self) {
        self.probe.notify_one();
    }

    /// Why calls fail at once; `None` if they are sent.
    pub(crate) fn current_fault(&self) -> Option<Fault> {
        self.state.borrow().fault.clone()
    }

    fn wait_after(&self, state: &State) -> Duration {
        let limits = &self.settings.limits;
        let wait = match &state.fault {
            None => limits.poll,
            Some(fault) => {
                let backoff =
                    Backoff { first: FIRST_BACKOFF.min(limits.max_backoff), max: limits.max_backoff };
                let wait = backoff.after(state.failures);
                match fault {
                    Fault::RateLimited { retry_after: Some(asked) } => {
                        wait.max((*asked).min(MAX_RETRY_AFTER))
                    }
                    _ => wait,
                }
            }
        };
        let mut random = [0];
        // Without randomness there is no jitter.
        let _filled = getrandom::fill(&mut random);
        with_jitter(wait, random.first().copied().unwrap_or_default())
    }

    async fn list(&self) -> Result<Catalog, Fault> {
        match (&self.client, &self.settings.endpoint) {
            (Client::Mcp(client), _) => {
                if !self.state.borrow().is_up() {
                    // It may come back with another protocol version, and without its sessions.
                    client.reset();
                }
                let connection = client.connected().await?;
                let (mut pages, mut next) =
                    (Pages::default(), connection.has("tools").then(Default::default));
                while let Some(params) = next {
                    let page = client.request(&Request::new("tools/list", params)).await?;
                    next = pages.add(&page)?;
                }
                Ok(Catalog::of_tools(&self.settings, &pages.entries))
            }
            (Client::Service(client), Endpoint::Service { tools, .. }) => {
                client.probe().await?;
                Ok(Catalog::declared(&self.settings, tools))
            }
            (Client::Service(_), Endpoint::Mcp { .. }) => Ok(Catalog::default()),
        }
    }
}
