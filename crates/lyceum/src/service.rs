//! A service, as the process sees it: all that the rest of the program needs to know of one.
//!
//! [`services.rs`](crate::services) names the kinds there are. A service brings its own tools, routes, scopes, background work,
//! health and configuration; registry, router, `/health`, `/readyz`, `/`, `doctor`, metrics and webhooks are loops over the list.

use std::{any::Any, fmt, sync::Arc};

use futures::future::BoxFuture;
use lyceum_content::SourceStatus;
use lyceum_model::{Domain, Right};
use lyceum_skills::Audience;
use lyceum_tools::{Change, Hub, Prefix, Registry, RegistryError};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Checker, Config, Repository, Source, Table},
    http::Route,
    search::Indexes,
    tasks::Tasks,
};

/// A service of this process.
pub trait Service: Send + Sync + 'static {
    /// Its name: in `/{name}/mcp`, in `/health`, and on everything that it offers.
    fn name(&self) -> &Domain;

    /// What a model should know before it uses the tools.
    fn instructions(&self) -> String {
        String::new()
    }

    /// Its part of the registry at this moment: tools, resources, prompts, extensions.
    fn offer(&self) -> Result<Registry, RegistryError> {
        Ok(Registry::default())
    }

    /// Further scopes that its tools and routes ask for, beside those of its kind: such as the configuration names.
    fn scopes(&self) -> Vec<Right> {
        Vec::new()
    }

    /// What it answers over plain HTTP.
    fn routes(self: Arc<Self>) -> Vec<Route> {
        Vec::new()
    }

    /// The sources that it reads, and how fresh each is.
    fn sources(&self) -> Vec<SourceStatus> {
        Vec::new()
    }

    /// Starts its background work. Needs the runtime, which making it does not.
    fn start(self: Arc<Self>, _context: &Context) {}

    /// Whether it works, and whether requests can be sent to it.
    fn health(&self) -> BoxFuture<'_, Health>;

    /// What people read of it at `/`; `url` is where the server is.
    fn about(&self, _url: &str) -> String {
        String::new()
    }

    /// Looks at everything that it is made of, for `lyceum doctor`.
    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>>;

    /// Is told of a push to these repositories. `delivery` names the message, which may come twice.
    fn pushed<'a>(
        &'a self,
        _repositories: &'a [&'a Repository],
        _delivery: Option<&'a str>,
    ) -> BoxFuture<'a, anyhow::Result<Delivery>> {
        Box::pin(async { Ok(Delivery::NotOurs) })
    }
}

/// How a service is.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// Whether all of it works.
    pub is_well: bool,
    /// Why requests should not be sent here yet, if they should not.
    pub waiting_for: Option<String>,
    /// What `/health` says below the name of the service.
    pub detail: Option<Value>,
    /// What `/readyz` says beside `ready` and `reasons`.
    pub readiness: Map<String, Value>,
}

/// What `lyceum doctor` says of a service.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// Lines for people, each with its end.
    pub text: String,
    /// Whether all of it works.
    pub is_well: bool,
}

/// What became of news of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The service reads none of these repositories.
    NotOurs,
    /// It is written down, or need not be.
    Accepted,
    /// This message came before.
    Known,
}

/// Checks the table of a service, which can name one of the sources. Where it gives nothing, it said why.
pub type Check = fn(&mut Checker<'_>, &Table, &[Source]) -> Option<Arc<dyn Settings>>;

/// Makes what a table declares.
pub type Make = fn(&Declared, &Workshop<'_>) -> anyhow::Result<Vec<Arc<dyn Service>>>;

/// A kind of service: the table of `lyceum.toml` that declares one, and how one is made.
pub struct Kind {
    /// The table, `[knowledge]`, which may also stand several times as `[knowledge.NAME]`; and the name of the first.
    pub table: &'static str,
    /// How to turn it on, for whoever has it off.
    pub hint: &'static str,
    /// The schema of the table.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The scopes that the tools and routes of such services ask for. A client may name them also where there is no such service.
    pub scopes: fn() -> Vec<Right>,
    /// Checks the table, with every fault at once.
    pub check: Check,
    /// Makes what is declared: the service, and what else works for it alone.
    pub make: Make,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.table).finish()
    }
}

/// The settings of a service, as its kind checked them.
pub trait Settings: Any + fmt::Debug + Send + Sync {}

impl<T: Any + fmt::Debug + Send + Sync> Settings for T {}

/// A service as it is declared.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its name.
    pub name: Domain,
    /// What stands before the names of its tools and prompts.
    pub prefix: Prefix,
    /// What its table says.
    pub settings: Arc<dyn Settings>,
}

impl Declared {
    /// Its settings, where they are of that type.
    pub fn settings<T: Settings>(&self) -> Option<&T> {
        let settings: &dyn Any = &*self.settings;
        settings.downcast_ref()
    }
}

/// What a service is made with.
pub struct Workshop<'a> {
    /// The whole configuration.
    pub config: &'a Config,
    /// Who will call.
    pub audience: Audience,
    /// The search indexes, by the service that each is for.
    pub(crate) indexes: &'a Indexes,
}

/// What a service works with in the background.
#[derive(Clone)]
pub struct Context {
    pub(crate) tasks: Tasks,
    pub(crate) hub: Arc<Hub>,
}

impl Context {
    /// Starts a task that ends with the server at the latest.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Is cancelled when the server is told to stop.
    pub fn stopping(&self) -> CancellationToken {
        self.tasks.stopping()
    }

    /// Tells clients that something is no longer as they may have it.
    pub fn announce(&self, change: Change) {
        self.hub.announce(change);
    }

    /// Shows clients what a service offers now. Where that can't be offered, they go on seeing what it offered before.
    pub fn publish(&self, service: &dyn Service) {
        let published = service.offer().and_then(|offer| self.hub.offer(service.name(), offer));
        if let Err(error) = published {
            tracing::error!(service = %service.name(), error.cause = %error, "cannot publish what changed; still serving the previous lists");
        }
    }
}
