//! The `Service` trait: everything that the process needs from a service.
//!
//! [`services.rs`](crate::services) lists the kinds. A service brings its own tools, routes, scopes, background work,
//! health and configuration; registry, router, `/health`, `/readyz`, `/`, `doctor`, metrics and webhooks are loops over the list.

use std::{any::Any, fmt, sync::Arc};

use futures::future::BoxFuture;
use lyceum_content::SourceStatus;
use lyceum_knowledge::NamedBase;
use lyceum_model::{Access, Domain, Right};
use lyceum_skills::Audience;
use lyceum_tools::{Change, Hub, Prefix, Registry, RegistryError, UpstreamStatus};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Checker, Config, Repository, Source, Table},
    http::Route,
    search::Indexes,
    storage::Storage,
    tasks::Tasks,
};

pub use crate::{finding::Finding, inventory::Inventory};

/// A service of this process.
pub trait Service: Send + Sync + 'static {
    /// Its name, in `/{name}/mcp`, `/health` and everything it offers.
    fn name(&self) -> &Domain;

    /// Who may know of it: its name, its instructions, its sources, its part of the status page. By default everyone.
    fn access(&self) -> Access {
        Access::public(self.name().clone())
    }

    /// Instructions for models, sent on `initialize` and `server/discover`.
    fn instructions(&self) -> String {
        String::new()
    }

    /// Its current offer: tools, resources, prompts, extensions.
    fn offer(&self) -> Result<Registry, RegistryError> {
        Ok(Registry::default())
    }

    /// Scopes in addition to those of its kind, for example from the configuration.
    fn scopes(&self) -> Vec<Right> {
        Vec::new()
    }

    /// Its HTTP routes.
    fn routes(self: Arc<Self>) -> Vec<Route> {
        Vec::new()
    }

    /// Its sources, with their freshness.
    fn sources(&self) -> Vec<SourceStatus> {
        Vec::new()
    }

    /// The upstream that it offers, if it is one.
    fn upstream(&self) -> Option<UpstreamStatus> {
        None
    }

    /// Its documents in a search over all knowledge bases, if it has any.
    fn searched(&self) -> Option<NamedBase> {
        None
    }

    /// Starts its background work. Needs a runtime, unlike building.
    fn start(self: Arc<Self>, _context: &Context) {}

    /// Its health and readiness.
    fn health(&self) -> BoxFuture<'_, Health>;

    /// Its part of the status page at `/`; `url` is the base URL of the server.
    fn about(&self, _url: &str) -> String {
        String::new()
    }

    /// What it serves and leaves out, once its first sync is done; `None` if it serves nothing by itself.
    fn inventory(&self) -> BoxFuture<'_, Option<Inventory>> {
        Box::pin(async { None })
    }

    /// Its checks for `lyceum doctor`.
    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>>;

    /// Handles a push to these repositories. `delivery` is the id of the webhook delivery, which may come twice.
    fn pushed<'a>(
        &'a self,
        _repositories: &'a [&'a Repository],
        _delivery: Option<&'a str>,
    ) -> BoxFuture<'a, anyhow::Result<Delivery>> {
        Box::pin(async { Ok(Delivery::NotOurs) })
    }
}

/// Health of a service.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// Whether all of it works.
    pub is_well: bool,
    /// Why it is not ready yet; `None` if it is.
    pub waiting_for: Option<String>,
    /// Details in `/health`, below its name.
    pub detail: Option<Value>,
    /// Details in `/readyz`.
    pub readiness: Map<String, Value>,
    /// How much work of each kind is queued, for the metrics.
    pub pending: Vec<(&'static str, i64)>,
}

/// Output of `lyceum doctor` for a service.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// Text, each line with a line break.
    pub text: String,
    /// Findings about files, printed after the text.
    pub findings: Vec<Finding>,
    /// Whether all of it works.
    pub is_well: bool,
}

/// How a push was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The service reads none of these repositories.
    NotOurs,
    /// Accepted, and durable if necessary.
    Accepted,
    /// A repeated delivery.
    Known,
}

/// Validates the table of a service, given the sources. If it returns `None`, it has reported why.
pub type Check = fn(&mut Checker<'_>, &Table, &[Source]) -> Option<Arc<dyn Settings>>;

/// Builds the services that a table declares.
pub type Make = fn(&Declared, &Workshop<'_>) -> anyhow::Result<Vec<Arc<dyn Service>>>;

/// A kind of service: its table in `lyceum.toml`, and its constructor.
pub struct Kind {
    /// Name of the table, such as `knowledge` for `[knowledge]` and `[knowledge.NAME]`; also the name of an unnamed service.
    pub table: &'static str,
    /// How to enable it.
    pub hint: &'static str,
    /// The schema of the table.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Scopes of such services. Clients may request them even if there is no such service.
    pub scopes: fn() -> Vec<Right>,
    /// Validates the table and reports all errors.
    pub check: Check,
    /// Builds the service, and services that work only for it.
    pub make: Make,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.table).finish()
    }
}

/// The validated settings of a service.
pub trait Settings: Any + fmt::Debug + Send + Sync {}

impl<T: Any + fmt::Debug + Send + Sync> Settings for T {}

/// A declared service.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its name.
    pub name: Domain,
    /// The prefix of its tool and prompt names.
    pub prefix: Prefix,
    /// Its settings.
    pub settings: Arc<dyn Settings>,
}

impl Declared {
    /// Its settings, if they have that type.
    pub fn settings<T: Settings>(&self) -> Option<&T> {
        let settings: &dyn Any = &*self.settings;
        settings.downcast_ref()
    }
}

/// What constructors of services get.
pub struct Workshop<'a> {
    /// The whole configuration.
    pub config: &'a Config,
    /// The audience: everyone over HTTP, or the local user over stdio.
    pub audience: Audience,
    /// The search indexes, by service.
    pub(crate) indexes: &'a Indexes,
    /// What several nodes share.
    pub(crate) storage: &'a Storage,
}

/// What background work of services gets.
#[derive(Clone)]
pub struct Context {
    pub(crate) tasks: Tasks,
    pub(crate) hub: Arc<Hub>,
}

impl Context {
    /// Spawns a task; shutdown waits for it or aborts it.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Cancelled when shutdown begins.
    pub fn stopping(&self) -> CancellationToken {
        self.tasks.stopping()
    }

    /// Notifies clients of a change.
    pub fn announce(&self, change: Change) {
        self.hub.announce(change);
    }

    /// Publishes the current offer of a service. If it conflicts with others, clients keep seeing the previous one.
    pub fn publish(&self, service: &dyn Service) {
        let published = service.offer().and_then(|offer| self.hub.offer(service.name(), offer));
        if let Err(error) = published {
            tracing::error!(service = %service.name(), error.cause = %error, "cannot publish what changed; still serving the previous lists");
        }
    }
}
