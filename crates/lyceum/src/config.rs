//! The configuration: `lyceum.toml`, the environment and flags → a raw form → a validated [`Config`].
//!
//! Every fault is told at once, with its place and what to write. Nothing else in the program reads the environment.

mod auth;
mod check;
mod document;
mod environment;
mod fault;
mod file;
pub(crate) mod knowledge;
mod otlp;
pub(crate) mod raw;
mod schema;
mod search;
pub(crate) mod skills;
mod table;

use std::{
    ffi::OsString,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lyceum_content::{ontology::Ontology, skill::Overlay};
use lyceum_model::{Domain, RelPath, SourceName};
use lyceum_net::Secret;
use lyceum_tools::Prefix;

pub use auth::{AuthService, Oauth, Waap, WaapConfig, WaapProject, WaapSettings, WaapStyles};
pub use check::Checker;
pub use environment::{askpass_errand, end_at, log_filter};
pub use fault::{Fault, Faults, ValueOrigin};
pub use file::{ConfigFile, Purpose, passes_over_working_folder};
pub use otlp::{OtlpEndpoint, otlp_endpoint};
pub use raw::{AuthMode, KnowledgeApi};
pub use schema::json_schema;
pub use search::{DEFAULT_MODEL, SearchService};
pub use table::Table;

use crate::{
    http::{HostRule, Origin, TrustedProxies},
    service::{Declared, Kind, Settings},
    services::KINDS,
};
use document::Document;

/// The name of the example as a source.
const EXAMPLE: SourceName = SourceName::from_static("example");

/// A configuration that can be used as it is.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that it was read from, where there is one.
    pub file: Option<ConfigFile>,
    /// Where to listen.
    pub listen: SocketAddr,
    /// What clients call the server, if not by the listen address: `https://mcp.example.org`, without a slash.
    pub public_url: Option<String>,
    /// The folder for what must survive a restart.
    pub data_dir: PathBuf,
    /// The web pages that may call.
    pub allowed_origins: Vec<Origin>,
    /// The names that the server may be called by.
    pub hosts: HostRule,
    /// Where operators see health and metrics in full, beside the other listener.
    pub operator_listen: Option<SocketAddr>,
    /// The reverse proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
    /// How much of everything is allowed.
    pub limits: Limits,
    /// Who may call.
    pub auth: AuthService,
    /// Where knowledge comes from.
    pub sources: Vec<Source>,
    /// The services that are on.
    pub services: Vec<Declared>,
    /// How things are found.
    pub search: SearchService,
    /// What is known of the machine.
    pub machine: Machine,
    /// Whether anyone said anything: a file, or variables that turn a service on.
    pub is_written: bool,
}

/// The skills service, as it is declared.
#[derive(Debug, Clone)]
pub struct SkillsService {
    /// The source that the skills are in; one of the declared.
    pub source: Source,
    /// The folder of the skills in the source, where it is written down.
    pub path: Option<RelPath>,
    /// What is laid over the `config.yaml` of the source.
    pub overlay: Overlay,
}

/// The knowledge service, as it is declared.
#[derive(Debug, Clone)]
pub struct KnowledgeService {
    /// The source that the documents are in; one of the declared.
    pub source: Source,
    /// Who it belongs to, as people read it.
    pub title: String,
    /// The types of documents.
    pub ontology: Ontology,
    /// Stands for the ontology and the other rules.
    pub rules: String,
    /// Folders and files that are left out.
    pub exclude: Vec<RelPath>,
    /// Who may read whole documents by the REST API.
    pub api: KnowledgeApi,
    /// Where documents are kept, where that is not the data folder.
    pub bucket: Option<Bucket>,
}

/// An S3-compatible object store, as it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// The address of the object store.
    pub endpoint: String,
    /// The region.
    pub region: String,
    /// What all keys begin with.
    pub prefix: Option<String>,
    /// The id of the access key.
    pub access_key: Secret,
    /// The secret of the access key.
    pub secret_key: Secret,
}

/// What is known of the machine, from its environment.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// Where programs are looked for.
    pub search_path: Vec<PathBuf>,
    /// The folder for what need not survive.
    pub temporary: PathBuf,
    /// Who runs the server.
    pub user: String,
}

/// How much of everything is allowed.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest request body.
    pub body_bytes: usize,
    /// How long a client may take to send the head or the body of a request.
    pub read: Duration,
    /// How long a client may leave an answer unread.
    pub write: Duration,
    /// How long one call may work.
    pub call: Duration,
    /// How many connections may be open at once.
    pub connections: usize,
    /// How many of them one client address may have.
    pub connections_per_address: usize,
    /// How many bytes of bodies and subscriptions are held for all clients together.
    pub buffer_bytes: usize,
    /// The largest request body without a sign-in, where people sign in.
    pub anonymous_body_bytes: usize,
    /// How many requests a second one client address may send without a sign-in, where people sign in.
    pub anonymous_per_second: u32,
    /// The same for all client addresses together.
    pub anonymous_total_per_second: u32,
    /// How many sessions of older clients are held in memory.
    pub sessions: usize,
    /// How long an idle session stays in memory.
    pub session_idle: Duration,
    /// How long calls under way may take to finish at the end.
    pub shutdown: Duration,
}

/// A source, as it is declared.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name.
    pub name: SourceName,
    /// Where it is.
    pub location: Location,
}

/// A Git repository, as it is declared. The address may hold a secret, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its address, as Git takes it.
    pub url: String,
    /// The branch that is served.
    pub branch: String,
    /// What opens it.
    pub token: Option<Secret>,
    /// How many minutes lie between two questions for news, where it is written down.
    pub poll_minutes: Option<u64>,
    /// What news of a push is signed with.
    pub webhook_secret: Option<Secret>,
    /// Where the web shows a file, with `{commit}` and `{path}` in it.
    pub web_url: Option<String>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").field("branch", &self.branch).finish_non_exhaustive()
    }
}

/// Where a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A Git repository.
    Repository(Repository),
    /// A folder.
    Folder(PathBuf),
    /// The example that is part of the program.
    Example,
}

/// What the command line says over file and environment.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--listen`.
    pub listen: Option<String>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// What `lyceum serve` was told to serve: a folder or the address of a Git repository.
    pub serve: Option<String>,
}

impl Config {
    /// Loads the file that counts for that purpose, or the defaults where there is none; then the environment and the
    /// flags over it.
    pub fn load(overrides: &Overrides, purpose: Purpose) -> Result<Self, Faults> {
        let file = ConfigFile::find(overrides, purpose);
        let document = file.as_ref().map_or_else(|| Ok(Document::empty()), |file| file.read(purpose))?;
        Ok(Self { file, ..Self::of(document, environment::variable, overrides)? })
    }

    /// What the file says, the environment over it, and the flags over both.
    fn of(
        mut document: Document,
        variable: impl Fn(&str) -> Option<OsString>,
        overrides: &Overrides,
    ) -> Result<Self, Faults> {
        environment::apply(&mut document, &variable);
        if let Some(listen) = &overrides.listen {
            document.set("server", "listen", listen.clone(), ValueOrigin::Flag("--listen"));
        }
        if let Some(folder) = &overrides.data_dir {
            let folder = environment::from_here(folder).display().to_string();
            document.set("server", "data_dir", folder, ValueOrigin::Flag("--data-dir"));
        }
        if let Some(place) = &overrides.serve {
            knowledge::apply(&mut document, place);
        }
        check::check(&document, &variable, &KINDS)
    }

    /// The services of one kind, by the type of their settings.
    pub fn services_of<T: Settings>(&self) -> impl Iterator<Item = (&Declared, &T)> {
        self.services.iter().filter_map(|declared| Some((declared, declared.settings::<T>()?)))
    }

    /// What an operator should know of the configuration, though it is no fault.
    pub fn warnings(&self) -> Vec<&'static str> {
        match &self.auth {
            AuthService::Open => Vec::new(),
            AuthService::Gated(oauth) => oauth.warnings(),
        }
    }

    /// Whether what is read is meant for everyone: a server that only this machine reaches is its owner's own, and where
    /// everyone signs in, or members alone read, it is for those who did. No page of another site may read from such a one, and
    /// no cache may share it.
    pub fn is_public(&self) -> bool {
        let mut apis = self.services_of::<KnowledgeService>().map(|(_, service)| service.api);
        let is_for_all = apis.all(|api| api == KnowledgeApi::Public);
        !self.is_closed() && is_for_all && (self.public_url.is_some() || !self.listen.ip().is_loopback())
    }

    /// Whether clients come through a reverse proxy that nobody named.
    pub fn has_unnamed_proxy(&self) -> bool {
        self.public_url.is_some() && self.listen.ip().is_loopback() && self.trusted_proxies.is_empty()
    }

    /// Whether callers who do not sign in get nothing but a bare status.
    pub fn is_closed(&self) -> bool {
        matches!(&self.auth, AuthService::Gated(oauth) if !oauth.anonymous)
    }

    /// The same, serving the example where nobody said what to serve.
    pub fn or_example(mut self) -> Result<Self, Faults> {
        if !self.is_written {
            let source = Source { name: EXAMPLE, location: Location::Example };
            self.services.push(Declared {
                kind: &crate::knowledge::KIND,
                name: Domain::from_static("knowledge"),
                prefix: Prefix::default(),
                settings: Arc::new(knowledge::of_example(source.clone())?),
            });
            self.sources.push(source);
        }
        Ok(self)
    }

    /// Loads from text, as if it stood in that file; without environment and flags.
    pub fn from_text(file: &Path, text: &str) -> Result<Self, Faults> {
        Self::from_text_with(file, text, &KINDS)
    }

    /// The same with other kinds of services.
    pub fn from_text_with(file: &Path, text: &str, kinds: &[&'static Kind]) -> Result<Self, Faults> {
        check::check(&Document::parse(file, text).map_err(Faults)?, &|_| None, kinds)
    }
}

#[cfg(test)]
mod tests;
