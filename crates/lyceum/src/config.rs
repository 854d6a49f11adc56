//! The configuration: `lyceum.toml`, the environment and flags → a raw form → a validated [`Config`].
//!
//! All errors are reported at once, with their location and a fix. Nothing else in the program reads the environment.

mod arguments;
mod auth;
mod check;
mod clients;
mod document;
mod environment;
mod fault;
mod file;
mod git_url;
mod github_app;
pub(crate) mod knowledge;
pub(crate) mod library;
mod log;
mod otlp;
pub(crate) mod raw;
mod schema;
mod search;
pub(crate) mod skills;
mod store;
mod table;
pub(crate) mod upstream;
mod warning;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lyceum_content::{document::Publishing, ontology::Ontology, skill::Overlay};
use lyceum_knowledge::PublicContent;
use lyceum_library::PartKind;
use lyceum_model::{Domain, RelPath, SourceName};
use lyceum_net::Secret;
use lyceum_source::github::{AppSettings, RepoName};
use lyceum_tools::Prefix;
use reqwest::Url;

pub(crate) use arguments::is_url;
pub use auth::{AuthService, Oauth, Waap, WaapConfig, WaapProject, WaapSettings, WaapStyles};
pub use check::Checker;
pub use clients::{ClientFolders, key_variable};
pub use environment::{askpass_prompt_request, end_at};
pub use fault::{Fault, Faults, ValueOrigin};
pub use file::{ConfigFile, Purpose, has_working_folder_file};
pub(crate) use git_url::is_mistyped as is_mistyped_url;
pub use log::{Color, LogFormat, LogSettings, has_color};
pub use otlp::OtlpEndpoint;
pub use raw::{AuthMode, LibraryRead};
pub use schema::json_schema;
pub use search::{DEFAULT_MODEL, SearchService};
pub use store::SharedStore;
pub use table::Table;
pub use upstream::UpstreamService;

use crate::{
    http::{HostRule, Origin, TrustedProxies},
    service::{Declared, Kind, Settings},
    services::KINDS,
};
use document::Document;

/// The source name of the bundled example.
const EXAMPLE: SourceName = SourceName::from_static("example");

/// A valid configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that it was loaded from, if any.
    pub file: Option<ConfigFile>,
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Base URL for clients, if it differs from the listen address: `https://mcp.example.org`, without a trailing
    /// slash.
    pub public_url: Option<String>,
    /// The folder for persistent data.
    pub data_dir: PathBuf,
    /// Origins of web pages that may call (CORS).
    pub allowed_origins: Vec<Origin>,
    /// Allowed `Host` headers.
    pub hosts: HostRule,
    /// Address of the operator listener, which serves health and metrics in full.
    pub operator_listen: Option<SocketAddr>,
    /// Reverse proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: TrustedProxies,
    /// Size, time and rate limits.
    pub limits: Limits,
    /// Authentication.
    pub auth: AuthService,
    /// The declared sources.
    pub sources: Vec<Source>,
    /// The enabled services.
    pub services: Vec<Declared>,
    /// Search settings.
    pub search: SearchService,
    /// The database that several nodes share; files in the data folder if `None`.
    pub store: Option<SharedStore>,
    /// The object store of all services; the data folder if `None`.
    pub objects: Option<Bucket>,
    /// The environment of the process.
    pub machine: Machine,
    /// Whether there is any configuration: a file, or variables that enable a service.
    pub is_written: bool,
}

/// Settings of a skills service.
#[derive(Debug, Clone)]
pub struct SkillsService {
    /// The source of the skills, one of the declared sources.
    pub source: Source,
    /// The folder of the skills in the source, if configured.
    pub path: Option<RelPath>,
    /// Settings that override the `config.yaml` of the source.
    pub overlay: Overlay,
}

/// Settings of a knowledge service.
#[derive(Debug, Clone)]
pub struct KnowledgeService {
    /// The source of the documents, one of the declared sources.
    pub source: Source,
    /// Display name.
    pub title: String,
    /// The types of documents.
    pub ontology: Ontology,
    /// Fingerprint input of everything that affects how documents are parsed, including the ontology.
    pub rules: String,
    /// Which documents are published; `None` to recognise it from the source.
    pub publish: Option<Publishing>,
    /// Excluded folders and files.
    pub exclude: Vec<RelPath>,
    /// What callers without the tier `member` may read.
    pub public: PublicContent,
    /// The object store for documents; the data folder if `None`.
    pub bucket: Option<Bucket>,
    /// Where drafts go; `None` if there are none.
    pub drafts: Option<Drafts>,
}

/// Settings of drafts.
#[derive(Debug, Clone)]
pub struct Drafts {
    /// Where they go.
    pub target: DraftTarget,
    /// The branch to merge them into.
    pub branch: String,
    /// The folder for documents of types without a folder.
    pub folder: RelPath,
}

/// Where drafts go.
#[derive(Debug, Clone)]
pub enum DraftTarget {
    /// Pull requests at GitHub.
    GitHub {
        /// Base URL of the API.
        api: Url,
        /// The repository.
        repo: RepoName,
        /// The token of the server's own identity.
        token: Secret,
    },
    /// Branches, pushed with this token or with that of the source.
    Git(Option<Secret>),
}

/// Settings of a library service.
#[derive(Debug, Clone)]
pub struct LibraryService {
    /// The configured parts.
    pub parts: BTreeMap<PartKind, LibraryPart>,
    /// Whose access decides what is read.
    pub read: LibraryRead,
}

/// A part of a library: its skills, agent profiles or docs.
#[derive(Debug, Clone)]
pub struct LibraryPart {
    /// Its source, one of the declared sources.
    pub source: Source,
    /// Its folder in the source, if configured.
    pub path: Option<RelPath>,
    /// The repository at GitHub, if contents are read with the callers' tokens.
    pub repo: Option<RepoName>,
}

/// Settings of an S3-compatible object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Name of the bucket.
    pub name: String,
    /// URL of the object store.
    pub endpoint: String,
    /// Region of the bucket.
    pub region: String,
    /// Prefix of all keys.
    pub prefix: Option<String>,
    /// Access key id.
    pub access_key: Secret,
    /// Secret access key.
    pub secret_key: Secret,
}

/// The environment of the process.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// The folders of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// The folder for temporary files.
    pub temporary: PathBuf,
    /// The user that runs the server.
    pub user: String,
}

/// Size, time and rate limits.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum size of a request body.
    pub body_bytes: usize,
    /// Timeout for receiving the head or the body of a request.
    pub read: Duration,
    /// Timeout for a client that does not read its response.
    pub write: Duration,
    /// Timeout of one call.
    pub call: Duration,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open connections per client address.
    pub connections_per_address: usize,
    /// Byte budget for request bodies and subscriptions of all clients together.
    pub buffer_bytes: usize,
    /// Maximum size of the body of an anonymous request. Applies unless `auth.mode` is "open".
    pub anonymous_body_bytes: usize,
    /// Rate limit of anonymous requests per client address. Applies unless `auth.mode` is "open".
    pub anonymous_per_second: u32,
    /// Rate limit of anonymous requests from all client addresses together.
    pub anonymous_total_per_second: u32,
    /// Maximum number of sessions in memory, for clients of earlier protocol versions.
    pub sessions: usize,
    /// How long an idle session stays in memory.
    pub session_idle: Duration,
    /// How long shutdown waits for in-flight calls.
    pub shutdown: Duration,
}

/// A declared source.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name.
    pub name: SourceName,
    /// Where it is.
    pub location: Location,
}

/// A Git repository. The URL may contain a secret, so `Debug` omits it.
#[derive(Clone, PartialEq, Eq)]
pub struct Repository {
    /// URL, in any form that Git accepts.
    pub url: String,
    /// Branch to serve.
    pub branch: String,
    /// Access token.
    pub token: Option<Secret>,
    /// GitHub App that is used instead of a token.
    pub app: Option<Box<AppSettings>>,
    /// Polling interval in minutes, if configured.
    pub poll_minutes: Option<u64>,
    /// Secret of the webhook signature.
    pub webhook_secret: Option<Secret>,
    /// URL template of a file on the web, with `{commit}` and `{path}`.
    pub web_url: Option<String>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").field("branch", &self.branch).finish_non_exhaustive()
    }
}

/// Location of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A Git repository.
    Repository(Repository),
    /// A folder.
    Folder(PathBuf),
    /// The bundled example.
    Example,
}

/// Command-line flags, which override file and environment.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--listen`.
    pub listen: Option<String>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// Sources named on the command line.
    pub sources: Vec<SourceArgument>,
}

/// A source named on the command line, and what it is served as.
#[derive(Debug, Clone)]
pub struct SourceArgument {
    /// A folder or the URL of a Git repository.
    pub location: String,
    /// The services that read it.
    pub services: Vec<ServiceArgument>,
}

/// A service of a source that is named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceArgument {
    /// Its kind: `knowledge` or `skills`.
    pub table: &'static str,
    /// Its name, if there are several of its kind.
    pub name: Option<String>,
    /// Folders and files that it leaves out.
    pub exclude: Vec<RelPath>,
    /// The folder of the source that it reads, if not all of it.
    pub path: Option<RelPath>,
}

impl Config {
    /// Loads the file for that purpose, or the defaults if there is none, and applies the environment and the flags.
    pub fn load(overrides: &Overrides, purpose: Purpose) -> Result<Self, Faults> {
        let file = ConfigFile::find(overrides, purpose);
        let document = file.as_ref().map_or_else(|| Ok(Document::empty()), |file| file.read(purpose))?;
        let mut config = Self::of(document, environment::variable, overrides)?;
        config.search.packaged_models = environment::packaged_models();
        Ok(Self { file, ..config })
    }

    /// Applies the environment to the file, and the flags to both.
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
            let folder = environment::absolute_path(folder).display().to_string();
            document.set("server", "data_dir", folder, ValueOrigin::Flag("--data-dir"));
        }
        for source in &overrides.sources {
            arguments::apply(&mut document, source);
        }
        check::check(&document, &variable, &KINDS)
    }

    /// The services of one kind, by the type of their settings.
    pub fn services_of<T: Settings>(&self) -> impl Iterator<Item = (&Declared, &T)> {
        self.services.iter().filter_map(|declared| Some((declared, declared.settings::<T>()?)))
    }

    /// Whether everyone may read what is public. Not if the server is only reachable from this machine, or if everyone
    /// must sign in. Then no page of another site may read it (CORS), and no shared cache may store it.
    pub fn is_public(&self) -> bool {
        !self.is_closed() && (self.public_url.is_some() || !self.listen.ip().is_loopback())
    }

    /// Whether clients seem to come through a reverse proxy that is not in `trusted_proxies`.
    pub fn has_unnamed_proxy(&self) -> bool {
        self.public_url.is_some() && self.listen.ip().is_loopback() && self.trusted_proxies.is_empty()
    }

    /// Whether anonymous callers get nothing but a bare status.
    pub fn is_closed(&self) -> bool {
        matches!(&self.auth, AuthService::Gated(oauth) if !oauth.anonymous)
    }

    /// Adds the bundled example if nothing is configured.
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

    /// Loads from text, as if it were the contents of that file, without environment and flags.
    pub fn from_text(file: &Path, text: &str) -> Result<Self, Faults> {
        Self::from_text_with(file, text, &KINDS)
    }

    /// Like [`from_text`](Self::from_text), with other kinds of services.
    pub fn from_text_with(file: &Path, text: &str, kinds: &[&'static Kind]) -> Result<Self, Faults> {
        check::check(&Document::parse(file, text).map_err(Faults)?, &|_| None, kinds)
    }
}

#[cfg(test)]
mod tests;
