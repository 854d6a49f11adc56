//! The application: one plain struct, built once, top to bottom, and cloned cheaply.

use std::{net::SocketAddr, ops::Deref, sync::Arc};

use lyceum_content::{Catalog, Current, SourceStatus};
use lyceum_model::{Caller, Domain, ErrorCode};
use lyceum_tools::{
    Error, Hub, Registry, RegistryError, ServerFacts, ServerInfo,
    mcp::{Identity, Implementation, Mcp, Seal},
};

use crate::{
    config::{AuthMode, Config},
    drain::Drain,
    http::RequestIds,
    mcp::{Legacy, Shared},
    patience::within,
    tasks::Tasks,
    telemetry::Metrics,
};

/// The service of the tools that every deployment has.
const SERVER: Domain = Domain::from_static("server");

/// What a model should know before it uses the tools.
const INSTRUCTIONS: &str = "Knowledge kept in Git repositories: skills, docs, a knowledge base, code. \
    Call server_info to see what is here and how fresh it is.";

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What the application is made of.
pub struct Parts {
    pub(crate) config: Config,
    pub(crate) addr: SocketAddr,
    pub(crate) catalog: Arc<Current<Catalog>>,
    pub(crate) mcp: Mcp,
    pub(crate) legacy: Legacy,
    /// Who everyone is, for as long as the only mode is "open".
    pub(crate) caller: Arc<Caller>,
    pub(crate) metrics: Metrics,
    pub(crate) drain: Drain,
    pub(crate) tasks: Tasks,
    pub(crate) request_ids: RequestIds,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// The product: the services that the configuration turns on.
    pub fn new(config: Config, addr: SocketAddr) -> Result<Self, RegistryError> {
        let sources =
            config.sources.iter().map(|source| SourceStatus::pending(source.name.clone())).collect();
        let catalog = Arc::new(Current::new(Catalog { sources }));
        let hub = Arc::new(Hub::new(registry(&catalog)?));
        Ok(Self::with_hub(config, addr, hub, catalog))
    }

    /// The same doors before another registry.
    pub fn with_hub(config: Config, addr: SocketAddr, hub: Arc<Hub>, catalog: Arc<Current<Catalog>>) -> Self {
        let implementation = Implementation::new("lyceum", env!("CARGO_PKG_VERSION"));
        let identity = Identity { implementation, instructions: INSTRUCTIONS.to_owned() };
        let mcp = Mcp::new(hub, identity, Seal::new(random_key()));
        let caller = Arc::new(match config.auth {
            AuthMode::Open => Caller::trusted(),
        });
        let (metrics, tasks) = (Metrics::new(), Tasks::default());
        let shared = Shared {
            mcp: mcp.clone(),
            metrics: metrics.clone(),
            tasks: tasks.clone(),
            limit: config.limits.call,
            caller: Arc::new(Caller::anonymous()),
        };
        let legacy = Legacy::new(shared, &config);
        let (drain, request_ids) = (Drain::default(), RequestIds::new());
        Self(Arc::new(Parts {
            config,
            addr,
            catalog,
            mcp,
            legacy,
            caller,
            metrics,
            drain,
            tasks,
            request_ids,
        }))
    }

    /// What clients call the server, without a slash at the end.
    pub fn public_url(&self) -> String {
        let listening = || match self.addr {
            addr if addr.ip().is_unspecified() => format!("http://127.0.0.1:{}", addr.port()),
            addr => format!("http://{addr}"),
        };
        self.config.public_url.clone().unwrap_or_else(listening)
    }

    /// From now on no new work is taken, and long streams are ended.
    pub(crate) fn begin_drain(&self) {
        self.drain.begin();
        self.mcp.hub().close();
        self.legacy.stop();
    }

    /// Waits for a call, but not longer than a call may work.
    pub(crate) async fn within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        within(self.config.limits.call, work).await.unwrap_or_else(|_| Err(too_late()))
    }
}

/// A call that was not done within its time limit.
pub(crate) fn too_late() -> Error {
    let message = "the work was not done within its time limit (limits.call_seconds)".to_owned();
    Error::Failed { code: ErrorCode::Timeout, message }
}

/// Everything that is offered, named one by one.
fn registry(catalog: &Arc<Current<Catalog>>) -> Result<Registry, RegistryError> {
    let facts = Arc::new(ServerFacts {
        version: env!("CARGO_PKG_VERSION"),
        services: vec![SERVER.to_string()],
        catalog: catalog.clone(),
    });
    Ok(Registry::builder().tool::<ServerInfo>(&SERVER, &facts)?.build())
}

/// The key of this process. Without randomness there is no server.
#[expect(
    clippy::expect_used,
    reason = "a system without randomness can't keep any promise; it must not start"
)]
fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the system gives random bytes");
    key
}
