//! The application: one plain struct, built once, top to bottom, and cloned cheaply.

use std::{net::SocketAddr, ops::Deref, sync::Arc};

use lyceum_auth::Auth;
use lyceum_content::{Catalog, Current, SourceStatus};
use lyceum_knowledge::{Finder, Knowledge};
use lyceum_model::{Caller, Domain, ErrorCode};
use lyceum_search::Search;
use lyceum_skills::{Audience, Skills};
use lyceum_tools::{
    Error, Hub, Registry, RegistryError, ServerFacts, ServerInfo,
    mcp::{Identity, Implementation, Mcp, Seal},
};

use crate::{
    auth::{self, AuditLog},
    config::{AuthService, Config},
    drain::Drain,
    http::{HealthNumbers, Openapi, RateLimit, RequestIds, Throttle},
    knowledge,
    mcp::{Legacy, Shared},
    patience::within,
    search, skills,
    tasks::Tasks,
    telemetry::Metrics,
};

/// The service of the tools that every deployment has.
const SERVER: Domain = Domain::from_static("server");

/// The service of the skills.
const SKILLS: Domain = Domain::from_static("skills");

/// The service of the knowledge base.
pub(crate) const KNOWLEDGE: Domain = Domain::from_static("knowledge");

/// What a model should know before it uses the tools.
const INSTRUCTIONS: &str = "Knowledge kept in Git repositories: skills, docs, a knowledge base, code. \
    Call server_info to see what is here and how fresh it is.";

/// The same for the skills, where they are on.
const SKILLS_INSTRUCTIONS: &str = " Before you start on a task, call get_skill with a short description of it: \
    the team's rules, templates and scripts for such tasks are there.";

/// The same for the knowledge base, where it is on.
const KNOWLEDGE_INSTRUCTIONS: &str = " Questions about the team's own words, patterns, people and projects are \
    answered by the knowledge base: search_knowledge for a question, define_term for a word, get_document for a whole \
    document. Name the document and \
    its commit when you quote.";

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What the application is made of.
pub struct Parts {
    pub(crate) config: Config,
    pub(crate) addr: SocketAddr,
    pub(crate) catalog: Arc<Current<Catalog>>,
    pub(crate) skills: Option<Arc<Skills>>,
    pub(crate) knowledge: Option<Arc<Knowledge>>,
    pub(crate) search: Option<Arc<Search>>,
    pub(crate) mcp: Mcp,
    pub(crate) legacy: Legacy,
    /// Who is calling; without it everyone may do everything.
    pub(crate) auth: Option<Auth>,
    /// What is recorded of calls, where people are known.
    audit: Option<AuditLog>,
    /// How often one address may sign in, send a token that is not known, and open a session.
    pub(crate) sign_in_rate: RateLimit,
    pub(crate) token_rate: RateLimit,
    pub(crate) session_rate: RateLimit,
    /// How often strangers may ask, where others are known.
    pub(crate) throttle: Throttle,
    /// Who everyone is, without it.
    pub(crate) caller: Arc<Caller>,
    pub(crate) metrics: Metrics,
    pub(crate) health_numbers: HealthNumbers,
    pub(crate) drain: Drain,
    pub(crate) tasks: Tasks,
    pub(crate) request_ids: RequestIds,
    pub(crate) openapi: Openapi,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The services that are on.
#[derive(Default)]
struct Services {
    skills: Option<Arc<Skills>>,
    knowledge: Option<Arc<Knowledge>>,
    search: Option<Arc<Search>>,
    auth: Option<Auth>,
    audit: Option<AuditLog>,
}

impl Services {
    /// Their names.
    fn domains(&self) -> Vec<Domain> {
        let skills = self.skills.as_ref().map(|_| SKILLS);
        let knowledge = self.knowledge.as_ref().map(|_| KNOWLEDGE);
        [Some(SERVER), skills, knowledge].into_iter().flatten().collect()
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
    /// A source can't be used as it is declared.
    #[error("a source can't be used")]
    Source(#[from] lyceum_source::Error),
    /// What is kept of the knowledge base can't be opened.
    #[error(transparent)]
    Knowledge(#[from] lyceum_knowledge::OpenError),
    /// The place for documents can't be used.
    #[error(transparent)]
    Objects(#[from] lyceum_store::ObjectError),
    /// What is kept of sign-ins can't be opened.
    #[error(
        "the database of sign-ins can't be opened; restore auth.db in the data folder, or move it and auth.db.damaged away, and everyone signs in again"
    )]
    Auth(#[source] lyceum_store::DbError),
    /// The key of the deployment can't be read or made.
    #[error("the key of this deployment (auth.key in the data folder) can't be used")]
    Key(#[source] std::io::Error),
    /// The secret of the bucket can't be used.
    #[error("the secret key of the bucket can't be used")]
    Secret(#[source] lyceum_store::InvalidSecret),
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
        let sources =
            config.sources.iter().map(|source| SourceStatus::pending(source.name.clone())).collect();
        let catalog = Arc::new(Current::new(Catalog { sources }));
        let skills = skills::service(&config, audience)?;
        if let Some(skills) = &skills {
            skills::note(&catalog, skills.source_name(), &skills.state().borrow());
        }
        let knowledge = knowledge::service(&config)?;
        if let Some(knowledge) = &knowledge {
            knowledge::note(&catalog, knowledge.source_name(), &knowledge.state().borrow());
        }
        let search = search::service(&config);
        let mut services = Services { skills, knowledge, search, auth: None, audit: None };
        let foundation = Foundation::default();
        // Who started the program over stdio may do everything.
        if let Audience::Everyone = audience {
            let domains = services.domains();
            let names = domains.iter().map(Domain::as_str);
            services.auth = auth::service(&config, &public_url(&config, addr), names)?;
            let Foundation { metrics, tasks } = &foundation;
            let log = |auth: &Auth| AuditLog::new(auth.clone(), tasks.clone(), metrics.audit());
            services.audit = services.auth.as_ref().map(log);
        }
        let hub = Arc::new(Hub::new(registry(&catalog, &services)?));
        Ok(Self::assemble(config, addr, hub, catalog, services, foundation))
    }

    /// The same doors before another registry.
    pub fn with_hub(config: Config, addr: SocketAddr, hub: Arc<Hub>, catalog: Arc<Current<Catalog>>) -> Self {
        Self::assemble(config, addr, hub, catalog, Services::default(), Foundation::default())
    }

    /// Starts what works in the background. Needs the runtime, which building does not.
    pub fn start(&self) {
        if let Some(skills) = &self.skills {
            skills::start(self, skills);
        }
        if let Some(knowledge) = &self.knowledge {
            knowledge::start(self, knowledge);
        }
        if let Some(search) = &self.search {
            search::start(self, search);
        }
        if let Some(auth) = &self.auth {
            self.tasks.spawn(auth::keep_tidy(auth.clone()));
        }
    }

    /// What is offered at this moment.
    pub(crate) fn registry(&self) -> Result<Registry, RegistryError> {
        let services = Services {
            skills: self.skills.clone(),
            knowledge: self.knowledge.clone(),
            search: self.search.clone(),
            auth: None,
            audit: self.audit.clone(),
        };
        registry(&self.catalog, &services)
    }

    fn assemble(
        config: Config,
        addr: SocketAddr,
        hub: Arc<Hub>,
        catalog: Arc<Current<Catalog>>,
        services: Services,
        foundation: Foundation,
    ) -> Self {
        let Services { skills, knowledge, search, auth, audit } = services;
        let Foundation { metrics, tasks } = foundation;
        let implementation = Implementation::new("lyceum", env!("CARGO_PKG_VERSION"));
        let of_skills = skills.as_ref().map_or("", |_| SKILLS_INSTRUCTIONS);
        let of_knowledge = knowledge.as_ref().map_or("", |_| KNOWLEDGE_INSTRUCTIONS);
        let instructions = [INSTRUCTIONS, of_skills, of_knowledge].concat();
        let identity = Identity { implementation, instructions };
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
            catalog,
            skills,
            knowledge,
            search,
            mcp,
            legacy,
            auth,
            audit,
            sign_in_rate: RateLimit::of_sign_ins(),
            token_rate: RateLimit::of_sign_ins(),
            session_rate: RateLimit::of_sessions(),
            throttle,
            caller,
            metrics,
            drain,
            tasks,
            request_ids,
            health_numbers: HealthNumbers::default(),
            openapi: Openapi::default(),
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

/// Everything that is offered, named one by one.
fn registry(catalog: &Arc<Current<Catalog>>, services: &Services) -> Result<Registry, RegistryError> {
    let Services { skills, knowledge, search, auth: _, audit } = services;
    let facts = Arc::new(ServerFacts {
        version: env!("CARGO_PKG_VERSION"),
        services: services.domains().iter().map(ToString::to_string).collect(),
        catalog: catalog.clone(),
    });
    let mut builder = Registry::builder().tool::<ServerInfo>(&SERVER, &facts)?;
    if let Some(audit) = audit {
        builder = builder.audit(audit.sink());
    }
    if let Some(skills) = skills {
        builder = lyceum_skills::register(builder, &SKILLS, skills)?;
    }
    if let (Some(knowledge), Some(search)) = (knowledge, search) {
        let finder = Arc::new(Finder { knowledge: knowledge.clone(), search: search.clone() });
        builder = lyceum_knowledge::register(builder, &KNOWLEDGE, &finder)?;
    }
    Ok(builder.build())
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
