//! The application: one plain struct, built once, top to bottom, and cloned cheaply.

use std::{net::SocketAddr, ops::Deref, sync::Arc};

use lyceum_auth::Auth;
use lyceum_content::SourceStatus;
use lyceum_model::{Caller, ErrorCode};
use lyceum_skills::Audience;
use lyceum_tools::{
    Error, Hub, RegistryError,
    mcp::{Identity, Implementation, Mcp, Seal},
};

use crate::{
    auth::{self, AuditLog},
    config::{AuthService, Config},
    deadline::within,
    drain::Drain,
    http::{RateLimit, RequestIds, Throttle},
    mcp::{Legacy, Shared},
    service::{Context, Service},
    services::Services,
    tasks::Tasks,
    telemetry::Metrics,
};

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What the application is made of.
pub struct Parts {
    pub(crate) config: Config,
    pub(crate) addr: SocketAddr,
    pub(crate) services: Services,
    pub(crate) mcp: Mcp,
    pub(crate) legacy: Legacy,
    /// Who is calling; without it everyone may do everything.
    pub(crate) auth: Option<Auth>,
    /// How often one address may sign in, send a token that is not known, and open a session.
    pub(crate) sign_in_rate: RateLimit,
    pub(crate) token_rate: RateLimit,
    pub(crate) session_rate: RateLimit,
    /// How often strangers may ask, where others are known.
    pub(crate) throttle: Throttle,
    /// Who everyone is, without it.
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

/// What every part of the process stands on.
#[derive(Default)]
struct Foundation {
    metrics: Metrics,
    tasks: Tasks,
}

/// Why the application can't be built. The text is for whoever starts it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// What is offered does not fit together.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A service can't be made of what is declared.
    #[error(transparent)]
    Service(#[from] anyhow::Error),
    /// What is kept of sign-ins can't be opened.
    #[error(
        "the database of sign-ins can't be opened; restore auth.db in the data folder, or move it and auth.db.damaged away, and everyone signs in again"
    )]
    Auth(#[source] lyceum_store::DbError),
    /// The key of the deployment can't be read or made.
    #[error("the key of this deployment (auth.key in the data folder) can't be used")]
    Key(#[source] std::io::Error),
}

impl App {
    /// The product over HTTP, for everyone who reaches it: the services that the configuration turns on.
    pub fn new(config: Config, addr: SocketAddr) -> Result<Self, StartError> {
        Self::of_services(config, addr, Audience::Everyone)
    }

    /// The product over stdio, for the one person who started it.
    pub fn for_one_person(config: Config) -> Result<Self, StartError> {
        let addr = config.listen;
        Self::of_services(config, addr, Audience::OnePerson)
    }

    fn of_services(config: Config, addr: SocketAddr, audience: Audience) -> Result<Self, StartError> {
        let services = Services::make(&config, audience)?;
        Self::with_services(config, addr, audience, services)
    }

    /// The product with services of one's own, in place of those that the configuration declares.
    pub fn serving(
        config: Config,
        addr: SocketAddr,
        services: impl IntoIterator<Item = Arc<dyn Service>>,
    ) -> Result<Self, StartError> {
        Self::with_services(config, addr, Audience::Everyone, services.into_iter().collect())
    }

    fn with_services(
        config: Config,
        addr: SocketAddr,
        audience: Audience,
        services: Services,
    ) -> Result<Self, StartError> {
        let foundation = Foundation::default();
        let offers = services.offers(&config)?;
        let mut admission = None;
        // Who started the program over stdio may do everything.
        if let Audience::Everyone = audience {
            // A service that offers nothing, such as an index, has no endpoint that a token could be for.
            let offering = offers.iter().filter(|(_, offer)| offer.services().next().is_some());
            let names = offering.map(|(name, _)| name.as_str());
            admission = auth::service(&config, &public_url(&config, addr), names, services.scopes(&config))?;
        }
        let Foundation { metrics, tasks } = &foundation;
        let audit =
            admission.as_ref().map(|auth| AuditLog::new(auth.clone(), tasks.clone(), metrics.audit()));
        let hub = Arc::new(Hub::join(offers, audit.map(|audit| audit.sink()))?);
        Ok(Self::assemble(config, addr, hub, services, admission, foundation))
    }

    /// The same doors before another registry.
    pub fn with_hub(config: Config, addr: SocketAddr, hub: Arc<Hub>) -> Self {
        Self::assemble(config, addr, hub, Services::none(), None, Foundation::default())
    }

    /// Starts what works in the background. Needs the runtime, which building does not.
    pub fn start(&self) {
        let context = Context { tasks: self.tasks.clone(), hub: self.mcp.hub().clone() };
        for service in self.services.iter() {
            service.clone().start(&context);
        }
        if let Some(auth) = &self.auth {
            self.tasks.spawn(auth::keep_tidy(auth.clone()));
        }
    }

    /// The sources in the order of the configuration, and how fresh each is.
    pub(crate) fn sources(&self) -> Vec<SourceStatus> {
        self.services.sources(&self.config)
    }

    fn assemble(
        config: Config,
        addr: SocketAddr,
        hub: Arc<Hub>,
        services: Services,
        auth: Option<Auth>,
        foundation: Foundation,
    ) -> Self {
        let Foundation { metrics, tasks } = foundation;
        let implementation = Implementation::new("lyceum", env!("CARGO_PKG_VERSION"));
        let identity = Identity { implementation, instructions: services.instructions() };
        let mcp = Mcp::new(hub, identity, Seal::new(random_key())).within(config.limits.buffer_bytes);
        let caller = Arc::new(Caller::trusted());
        let shared = Shared {
            mcp: mcp.clone(),
            metrics: metrics.clone(),
            tasks: tasks.clone(),
            limit: config.limits.call,
            caller: Arc::new(Caller::anonymous()),
        };
        let legacy = Legacy::new(shared, &config);
        let throttle = Throttle::new(&config.limits);
        let (drain, request_ids) = (Drain::default(), RequestIds::new());
        Self(Arc::new(Parts {
            config,
            addr,
            services,
            mcp,
            legacy,
            auth,
            sign_in_rate: RateLimit::of_sign_ins(),
            token_rate: RateLimit::of_sign_ins(),
            session_rate: RateLimit::of_sessions(),
            throttle,
            caller,
            metrics,
            drain,
            tasks,
            request_ids,
        }))
    }

    /// What clients call the server, without a slash at the end.
    pub fn public_url(&self) -> String {
        public_url(&self.config, self.addr)
    }

    /// Whether people sign in here.
    pub(crate) fn has_sign_in(&self) -> bool {
        matches!(&self.config.auth, AuthService::Gated(oauth) if oauth.has_sign_in())
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

/// What clients call a server that listens there.
fn public_url(config: &Config, addr: SocketAddr) -> String {
    let listening = || match addr {
        addr if addr.ip().is_unspecified() => format!("http://127.0.0.1:{}", addr.port()),
        addr => format!("http://{addr}"),
    };
    config.public_url.clone().unwrap_or_else(listening)
}

/// A call that was not done within its time limit.
pub(crate) fn too_late() -> Error {
    let message = "the work was not done within its time limit (limits.call_seconds)".to_owned();
    Error::Failed { code: ErrorCode::Timeout, message }
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
