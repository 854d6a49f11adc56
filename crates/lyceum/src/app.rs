//! The application state: one plain struct, built once, cheap to clone.

use std::{net::SocketAddr, ops::Deref, sync::Arc, time::Duration};

use lyceum_auth::Auth;
use lyceum_content::SourceStatus;
use lyceum_model::{Caller, ErrorCode};
use lyceum_skills::Audience;
use lyceum_tools::{
    Error, Hub, RegistryError,
    mcp::{Identity, Implementation, Mcp, Seal},
};

use crate::{
    auth::AuditLog,
    config::{AuthService, Config},
    deadline::within,
    drain::Drain,
    http::{RateLimit, RequestIds, Throttle},
    mcp::{Legacy, Shared},
    service::{Context, Service},
    services::Services,
    storage::Storage,
    tasks::Tasks,
    telemetry::Metrics,
};

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of the application.
pub struct Parts {
    pub(crate) config: Config,
    pub(crate) addr: SocketAddr,
    pub(crate) services: Services,
    pub(crate) mcp: Mcp,
    pub(crate) legacy: Legacy,
    /// Authentication; `None` if `auth.mode` is "open".
    pub(crate) auth: Option<Auth>,
    /// Rate limits per client address: sign-in, unknown tokens, new sessions.
    pub(crate) sign_in_rate: RateLimit,
    pub(crate) token_rate: RateLimit,
    pub(crate) session_rate: RateLimit,
    /// Limits for anonymous callers, if others sign in.
    pub(crate) throttle: Throttle,
    /// The caller of every request, if `auth.mode` is "open".
    pub(crate) caller: Arc<Caller>,
    pub(crate) metrics: Metrics,
    pub(crate) drain: Drain,
    pub(crate) tasks: Tasks,
    pub(crate) request_ids: RequestIds,
    /// The key of state that clients carry between calls.
    seal_key: [u8; 32],
    /// What several nodes share.
    storage: Storage,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What services and transports share.
struct Foundation {
    metrics: Metrics,
    tasks: Tasks,
    seal_key: [u8; 32],
    storage: Storage,
}

impl Foundation {
    fn new(storage: Storage) -> Self {
        // The second round of a call may be at another node.
        let seal_key = storage.key().map_or_else(random_key, |key| key.derive("tool-state"));
        Self { metrics: Metrics::default(), tasks: Tasks::default(), seal_key, storage }
    }
}

/// Why the server can't start. The text is for the operator.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The offers of the services conflict.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A service can't be built from its configuration.
    #[error(transparent)]
    Service(#[from] anyhow::Error),
    /// The sign-in database can't be opened.
    #[error(
        "cannot open the sign-in database; restore auth.db in the data folder, or move auth.db and auth.db.damaged away, after which everyone must sign in again"
    )]
    Auth(#[source] lyceum_store::DbError),
    /// The deployment key can't be read or created.
    #[error("cannot use the deployment key (auth.key in the data folder)")]
    Key(#[source] std::io::Error),
}

impl App {
    /// The server over HTTP, with the configured services. Blocks; with `[store]`, it must not be called on a thread that
    /// runs async tasks.
    pub fn new(config: Config, addr: SocketAddr) -> Result<Self, StartError> {
        let foundation = Foundation::new(Storage::open(&config)?);
        Self::of_services(config, addr, Audience::Everyone, foundation)
    }

    /// The server over HTTP with another configuration, in place of this one. Metrics continue, and clients can go on
    /// with the state they carry.
    pub(crate) fn reconfigured(&self, config: Config) -> Result<Self, StartError> {
        let (metrics, tasks) = (self.metrics.clone(), Tasks::default());
        let storage = self.storage.reopened(&config)?;
        let foundation = Foundation { metrics, tasks, seal_key: self.seal_key, storage };
        Self::of_services(config, self.addr, Audience::Everyone, foundation)
    }

    /// The server over stdio, for the user who started it.
    pub fn for_one_person(config: Config) -> Result<Self, StartError> {
        let addr = config.listen;
        let foundation = Foundation::new(Storage::open(&config)?);
        Self::of_services(config, addr, Audience::OnePerson, foundation)
    }

    fn of_services(
        config: Config,
        addr: SocketAddr,
        audience: Audience,
        foundation: Foundation,
    ) -> Result<Self, StartError> {
        let services = Services::make(&config, audience, &foundation.storage)?;
        Self::with_services(config, addr, audience, services, foundation)
    }

    /// The server with the given services instead of the configured ones.
    pub fn serving(
        config: Config,
        addr: SocketAddr,
        services: impl IntoIterator<Item = Arc<dyn Service>>,
    ) -> Result<Self, StartError> {
        let services = services.into_iter().collect();
        Self::with_services(config, addr, Audience::Everyone, services, Foundation::new(Storage::default()))
    }

    fn with_services(
        config: Config,
        addr: SocketAddr,
        audience: Audience,
        services: Services,
        foundation: Foundation,
    ) -> Result<Self, StartError> {
        let offers = services.offers(&config)?;
        let sign_in = match audience {
            Audience::Everyone => {
                let issuer = public_url(&config, addr);
                services.sign_in(&config, &issuer, &offers, &foundation.storage)?
            }
            // Over stdio the caller is whoever started the process.
            Audience::OnePerson => None,
        };
        let auth = sign_in.as_ref().map(|sign_in| sign_in.auth().clone());
        let services = match sign_in {
            Some(sign_in) => services.and(sign_in),
            None => services,
        };
        let Foundation { metrics, tasks, .. } = &foundation;
        let audit = auth.as_ref().map(|auth| AuditLog::new(auth.clone(), tasks.clone(), metrics.audit()));
        let hub = Arc::new(Hub::join(offers, audit.map(|audit| audit.sink()))?);
        Ok(Self::assemble(config, addr, hub, services, auth, foundation))
    }

    /// The same transports with another registry.
    pub fn with_hub(config: Config, addr: SocketAddr, hub: Arc<Hub>) -> Self {
        Self::assemble(config, addr, hub, Services::none(), None, Foundation::new(Storage::default()))
    }

    /// Starts background work. Needs a runtime, unlike building.
    pub fn start(&self) {
        let context = Context { tasks: self.tasks.clone(), hub: self.mcp.hub().clone() };
        for service in self.services.iter() {
            service.clone().start(&context);
        }
    }

    /// All sources in configuration order, with their freshness.
    pub(crate) fn sources(&self) -> Vec<SourceStatus> {
        self.services.sources(&self.config, &Caller::trusted())
    }

    /// Whether everyone sees health details and metrics: not if anonymous access is off, or if a service is for members
    /// only. Otherwise they are for operators.
    pub(crate) fn has_public_health(&self) -> bool {
        !self.config.is_closed() && self.services.iter().all(|service| service.access().is_public())
    }

    fn assemble(
        config: Config,
        addr: SocketAddr,
        hub: Arc<Hub>,
        services: Services,
        auth: Option<Auth>,
        foundation: Foundation,
    ) -> Self {
        let Foundation { metrics, tasks, seal_key, storage } = foundation;
        let implementation = Implementation::new("lyceum", env!("CARGO_PKG_VERSION"));
        let identity = Identity { implementation, instructions: services.instructions() };
        let mcp = Mcp::new(hub, identity, Seal::new(seal_key)).within(config.limits.buffer_bytes);
        let caller = Arc::new(Caller::trusted());
        let shared = Shared {
            mcp: mcp.clone(),
            metrics: metrics.clone(),
            tasks: tasks.clone(),
            limit: config.limits.call,
            caller: Arc::new(Caller::anonymous()),
        };
        let legacy = Legacy::new(shared, &config, storage.db());
        let throttle = Throttle::new(&config.limits);
        let (drain, request_ids) = (Drain::default(), RequestIds::new());
        Self(Arc::new(Parts {
            config,
            addr,
            services,
            mcp,
            legacy,
            auth,
            sign_in_rate: RateLimit::of_sign_ins().shared_by(storage.db()),
            token_rate: RateLimit::of_sign_ins(),
            session_rate: RateLimit::of_sessions(),
            throttle,
            caller,
            metrics,
            drain,
            tasks,
            request_ids,
            seal_key,
            storage,
        }))
    }

    /// The base URL that clients use, without a trailing slash.
    pub fn public_url(&self) -> String {
        public_url(&self.config, self.addr)
    }

    /// Whether this server is an OAuth authorization server.
    pub(crate) fn has_sign_in(&self) -> bool {
        matches!(&self.config.auth, AuthService::Gated(oauth) if oauth.has_sign_in())
    }

    /// Stops accepting new work and ends long streams.
    pub(crate) fn begin_drain(&self) {
        self.drain.begin();
        self.end_streams();
    }

    /// Ends long streams; clients open them again.
    fn end_streams(&self) {
        self.mcp.hub().close();
        self.legacy.stop();
    }

    /// Ends this application after another has taken its place: in-flight requests finish within `limits.shutdown`,
    /// then its sessions are evicted from memory and its background tasks end.
    pub(crate) async fn retire(&self, tasks_timeout: Duration) {
        self.end_streams();
        let limit = self.config.limits.shutdown;
        if tokio::time::timeout(limit, self.drain.finished()).await.is_err() {
            tracing::warn!(
                "calls of the previous configuration are still running after limits.shutdown_seconds; they lose their background work"
            );
        }
        self.legacy.evict_all().await;
        self.tasks.finish(tasks_timeout).await;
    }

    /// Runs a call within `limits.call_seconds`.
    pub(crate) async fn within_limit<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        within(self.config.limits.call, work).await.unwrap_or_else(|_| Err(too_late()))
    }
}

/// The base URL of a server that listens on that address.
pub(crate) fn public_url(config: &Config, addr: SocketAddr) -> String {
    let listening = || match addr {
        addr if addr.ip().is_unspecified() => format!("http://127.0.0.1:{}", addr.port()),
        addr => format!("http://{addr}"),
    };
    config.public_url.clone().unwrap_or_else(listening)
}

/// The error of a call that timed out.
pub(crate) fn too_late() -> Error {
    let message = "the call timed out (limits.call_seconds)".to_owned();
    Error::Failed { code: ErrorCode::Timeout, message }
}

/// A random key for this process.
#[expect(
    clippy::expect_used,
    reason = "a system without randomness can't keep any promise; it must not start"
)]
fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the system gives random bytes");
    key
}
