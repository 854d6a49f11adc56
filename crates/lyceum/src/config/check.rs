//! Validates the raw form beyond its schema, and builds a [`Config`].

use std::{collections::BTreeSet, ffi::OsString, net::SocketAddr, path::PathBuf, time::Duration};

use http::Uri;
use lyceum_model::SourceName;
use lyceum_net::{Secret, is_loopback_host};
use serde::Deserialize;
use serde_json::Value;

use super::{
    AuthService, Bucket, Config, Limits, Location, Repository, SearchService, SharedStore, Source, auth,
    document::Document,
    environment,
    fault::{Fault, Faults},
    git_url, github_app,
    raw::{self, Raw},
    schema, search, store,
    table::{self, Table},
};
use crate::{
    http::{Cidr, HostRule, Origin, TrustedProxies},
    service::{Declared, Kind},
};

/// The default of `server.listen`.
const DEFAULT_LISTEN: &str = "127.0.0.1:8787";

pub(super) fn check(
    document: &Document,
    variable: &impl Fn(&str) -> Option<OsString>,
    kinds: &[&'static Kind],
) -> Result<Config, Faults> {
    let tables = Table::all(document, kinds);
    let mut checker = Checker { document, variable, faults: schema::faults(document, kinds, &tables) };
    let checked = checker.checked(&tables);
    let raw = Raw::deserialize(&without_services(&document.values, kinds));
    match (checker.faults.is_empty(), raw) {
        (true, Ok(raw)) => Ok(Config {
            file: None,
            listen: checked.listen,
            public_url: checked.public_url,
            data_dir: checked.data_dir,
            allowed_origins: checked.allowed_origins,
            hosts: checked.hosts,
            operator_listen: checked.operator_listen,
            trusted_proxies: checked.trusted_proxies,
            limits: limits(&raw.limits),
            auth: checked.auth,
            services: checked.services,
            search: checked.search,
            store: checked.store,
            objects: checked.objects,
            sources: checked.sources,
            machine: environment::machine(variable),
            is_written: document.has_file || !tables.is_empty(),
        }),
        (true, Err(error)) => {
            let (origin, key) = (document.origin(""), String::new());
            Err(Faults(vec![Fault { origin, key, message: error.to_string() }]))
        }
        (false, _) => {
            checker.faults.sort();
            Err(Faults(checker.faults))
        }
    }
}

/// Values that need validation beyond the schema.
struct CheckedValues {
    listen: SocketAddr,
    public_url: Option<String>,
    data_dir: PathBuf,
    allowed_origins: Vec<Origin>,
    hosts: HostRule,
    operator_listen: Option<SocketAddr>,
    trusted_proxies: TrustedProxies,
    sources: Vec<Source>,
    services: Vec<Declared>,
    search: SearchService,
    auth: AuthService,
    store: Option<SharedStore>,
    objects: Option<Bucket>,
}

/// Validates values and collects errors, after those of the schema. It checks everything of the right type, so that
/// all errors are reported at once; an invalid value is replaced by a placeholder that is never used.
pub struct Checker<'a> {
    pub(super) document: &'a Document,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    pub(super) faults: Vec<Fault>,
}

impl<'a> Checker<'a> {
    fn checked(&mut self, tables: &[Table]) -> CheckedValues {
        let listen = self.listen("/server/listen", self.text("/server/listen").unwrap_or(DEFAULT_LISTEN));
        let operator_listen = self.text("/server/operator_listen");
        let operator_listen = operator_listen.map(|text| self.listen("/server/operator_listen", text));
        let public_url = self.text("/server/public_url").and_then(|url| self.public_url(url));
        let hosts = self.hosts(listen, public_url.as_deref());
        let data_dir = self.text("/server/data_dir");
        let data_dir = data_dir.map_or_else(environment::default_data_dir, |folder| self.path(folder));
        let (allowed_origins, trusted_proxies) = (self.origins(), self.proxies());
        let sources = self.sources();
        table::refuse_duplicates(self, tables);
        let services = tables.iter().filter_map(|table| table.declared(self, &sources)).collect();
        let search = search::service(self, &data_dir);
        let auth = auth::service(self, listen, public_url.as_deref());
        let (store, objects) = (store::store(self), store::bucket(self, "/objects"));
        CheckedValues {
            listen,
            public_url,
            data_dir,
            allowed_origins,
            hosts,
            operator_listen,
            trusted_proxies,
            sources,
            services,
            search,
            auth,
            store,
            objects,
        }
    }

    /// The string at that pointer, if there is one.
    pub fn text(&self, pointer: &str) -> Option<&'a str> {
        self.document.values.pointer(pointer).and_then(Value::as_str)
    }

    /// The pointers of the items of an array.
    pub(super) fn items(&self, pointer: &str) -> impl Iterator<Item = String> + use<> {
        let count = self.document.values.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
        let pointer = pointer.to_owned();
        (0..count).map(move |index| format!("{pointer}/{index}"))
    }

    /// The source that a table refers to.
    pub fn source_named(&mut self, at: &str, sources: &[Source]) -> Option<Source> {
        let at = format!("{at}/source");
        let name = self.text(&at)?;
        let source = sources.iter().find(|source| source.name.as_str() == name).cloned();
        // A source of that name with errors of its own is reported already.
        let is_written = self.items("/source").any(|at| self.text(&format!("{at}/name")) == Some(name));
        if source.is_none() && !is_written {
            let message = format!("no [[source]] is named {name:?}; add one, or use the name of another");
            self.fault(&at, message);
        }
        source
    }

    fn listen(&mut self, at: &str, text: &str) -> SocketAddr {
        // Accept `localhost`, which is not a socket address, and a port alone, which means this machine only.
        let port = text.strip_prefix("localhost:").or_else(|| text.parse::<u16>().is_ok().then_some(text));
        let address = port.map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
        address.parse().unwrap_or_else(|_| {
            let key = at.rsplit('/').next().unwrap_or_default();
            let message = format!(
                "{text:?} is not an IP address and port; write for example {key} = {DEFAULT_LISTEN:?}"
            );
            self.fault(at, message);
            SocketAddr::from(([127, 0, 0, 1], 0))
        })
    }

    fn public_url(&mut self, text: &str) -> Option<String> {
        let root = text.strip_suffix('/').unwrap_or(text);
        if Origin::parse(root).is_some() {
            return Some(root.to_owned());
        }
        let message = format!(
            "{text:?} is not a base URL without a path; write for example public_url = \"https://mcp.example.org\""
        );
        self.fault("/server/public_url", message);
        None
    }

    fn origins(&mut self) -> Vec<Origin> {
        let mut origins = Vec::new();
        for at in self.items("/server/allowed_origins") {
            let Some(text) = self.text(&at) else { continue };
            match Origin::parse(text) {
                Some(origin) => origins.push(origin),
                None => self.fault(
                    &at,
                    format!("{text:?} is not an origin; write scheme, host and port only, such as \"https://app.example.org\""),
                ),
            }
        }
        origins
    }

    fn hosts(&mut self, listen: SocketAddr, public_url: Option<&str>) -> HostRule {
        let public =
            public_url.and_then(|url| url.parse::<Uri>().ok()).and_then(|uri| uri.host().map(str::to_owned));
        let mut names: Vec<String> = public.into_iter().collect();
        for at in self.items("/server/allowed_hosts") {
            let Some(name) = self.text(&at) else { continue };
            if name.is_empty() || name.contains(['/', ':', ' ', '*']) {
                let message = format!(
                    "{name:?} is not a host name; write it without scheme and port, such as \"lyceum.internal\""
                );
                self.fault(&at, message);
            }
            names.push(name.to_owned());
        }
        HostRule::new(listen, names)
    }

    fn proxies(&mut self) -> TrustedProxies {
        let mut networks = Vec::new();
        for at in self.items("/server/trusted_proxies") {
            let Some(text) = self.text(&at) else { continue };
            match Cidr::parse(text) {
                Some(network) => networks.push(network),
                None => self.fault(
                    &at,
                    format!("{text:?} is not an IP address or a network (CIDR); write for example \"127.0.0.1\" or \"10.0.0.0/8\""),
                ),
            }
        }
        TrustedProxies::new(networks)
    }

    fn sources(&mut self) -> Vec<Source> {
        let mut names = BTreeSet::new();
        let items = self.items("/source");
        items.filter_map(|at| self.source(&at, &mut names)).collect()
    }

    fn source(&mut self, at: &str, names: &mut BTreeSet<&'a str>) -> Option<Source> {
        let written = self.document.values.pointer(at)?.as_object()?;
        let name = self.text(&format!("{at}/name")).and_then(|text| {
            if !names.insert(text) {
                let message = format!("duplicate source name {text:?}; give each source its own name");
                self.fault(&format!("{at}/name"), message);
            }
            let name = SourceName::parse(text);
            name.map_err(|error| self.fault(&format!("{at}/name"), error.to_string())).ok()
        });
        if written.contains_key("url") == written.contains_key("path") {
            self.fault(at, "write either url (a Git repository) or path (a folder)".to_owned());
        }
        let repository =
            self.text(&format!("{at}/url")).map(|url| Location::Repository(self.repository(at, url)));
        let folder = self.text(&format!("{at}/path")).map(|path| Location::Folder(self.path(path)));
        if repository.is_none() {
            // A folder uses neither, but a variable that is named must be set.
            for key in ["token_env", "webhook_secret_env"] {
                let at = format!("{at}/{key}");
                let _unused = self.text(&at).and_then(|name| self.variable(&at, name));
            }
        }
        Some(Source { name: name?, location: repository.or(folder)? })
    }

    fn repository(&mut self, at: &str, url: &str) -> Repository {
        if git_url::is_mistyped(url) {
            // Not repeated, for it may contain a secret.
            let message = "is not a URL that Git can fetch from; write for example url = \"https://github.com/team/kb.git\"";
            self.fault(&format!("{at}/url"), message.to_owned());
        }
        let branch = self.text(&format!("{at}/branch")).unwrap_or("main").to_owned();
        let poll_minutes =
            self.document.values.pointer(&format!("{at}/poll_minutes")).and_then(Value::as_u64);
        let token = self.text(&format!("{at}/token_env")).and_then(|name| self.token(at, url, name));
        let app = github_app::settings(self, at, url).map(Box::new);
        let webhook_secret = self.text(&format!("{at}/webhook_secret_env")).and_then(|name| {
            let at = format!("{at}/webhook_secret_env");
            let value = self.variable(&at, name)?;
            let secret = Secret::for_signature(&value);
            if secret.is_none() {
                self.fault(&at, format!("the variable {name} is empty; set it to the secret of the webhook"));
            }
            secret
        });
        let web_url = self.text(&format!("{at}/web_url")).map(str::to_owned);
        if let Some(url) = web_url.as_ref().filter(|url| !url.contains("{commit}") || !url.contains("{path}"))
        {
            let message = format!(
                "{url:?} must contain {{commit}} and {{path}}; write for example \"https://git.example.org/team/kb/src/commit/{{commit}}/{{path}}\""
            );
            self.fault(&format!("{at}/web_url"), message);
        }
        Repository { url: url.to_owned(), branch, token, app, poll_minutes, webhook_secret, web_url }
    }

    /// The token in that variable, unless it would be sent unencrypted.
    fn token(&mut self, at: &str, url: &str, name: &str) -> Option<Secret> {
        let at = format!("{at}/token_env");
        let value = self.variable(&at, name)?;
        if is_unencrypted(url) {
            self.fault(&at, "a token is not sent over plain http; use https".to_owned());
            return None;
        }
        self.token_in(&at, name, &value)
    }

    /// Parses a token, or reports an error.
    pub(super) fn token_in(&mut self, at: &str, name: &str, value: &str) -> Option<Secret> {
        match Secret::new(value) {
            Ok(token) => Some(token),
            Err(error) => {
                self.fault(at, format!("the variable {name} can't be used: {error}"));
                None
            }
        }
    }

    /// The value of an optional variable.
    pub(super) fn optional_variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// The value of a variable that the file names.
    pub(super) fn variable(&mut self, at: &str, name: &str) -> Option<String> {
        self.may_name_secret(at)?;
        let value = (self.variable)(name);
        if value.is_none() {
            let key = at.rsplit('/').next().unwrap_or_default();
            self.fault(at, format!("the variable {name} is not set; set it, or remove {key}"));
        }
        value.map(|value| value.to_string_lossy().into_owned())
    }

    /// Refuses to read secrets that a file names which may come from someone else.
    pub(super) fn may_name_secret(&mut self, at: &str) -> Option<()> {
        if self.document.may_name_secrets || !self.document.origin(at).is_in_file() {
            return Some(());
        }
        let message = "secrets are not read for a lyceum.toml in the working directory, which may come from an untrusted \
             checkout; if you trust it, name it with --config lyceum.toml";
        self.fault(at, message.to_owned());
        None
    }

    /// Resolves a path relative to the folder of the configuration file.
    pub(super) fn path(&self, written: &str) -> PathBuf {
        self.document.folder().join(written)
    }

    /// Reports an error at that pointer. The message says what is wrong and how to fix it.
    pub fn fault(&mut self, pointer: &str, message: String) {
        let (origin, key) = (self.document.origin(pointer), self.document.shown(pointer));
        self.faults.push(Fault { origin, key, message });
    }
}

/// The values without the service tables.
fn without_services(values: &Value, kinds: &[&'static Kind]) -> Value {
    let mut values = values.clone();
    if let Some(tables) = values.as_object_mut() {
        tables.retain(|key, _| kinds.iter().all(|kind| kind.table != key));
    }
    values
}

/// Whether what is sent to that URL would be unencrypted.
pub(super) fn is_unencrypted(url: &str) -> bool {
    let url = url.trim();
    let is_http = url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    let host = url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    is_http && !host.is_some_and(|host| is_loopback_host(&host))
}

fn limits(raw: &raw::Limits) -> Limits {
    let count = |written: Option<u64>, default: usize| {
        written.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX))
    };
    let seconds = |written: Option<u64>, default: u64| Duration::from_secs(written.unwrap_or(default));
    let rate = |written: Option<u64>, default: u32| {
        written.map_or(default, |n| u32::try_from(n).unwrap_or(u32::MAX))
    };
    Limits {
        anonymous_body_bytes: count(raw.anonymous_body_bytes, 256 * 1024),
        anonymous_per_second: rate(raw.anonymous_per_second, 50),
        anonymous_total_per_second: rate(raw.anonymous_total_per_second, 1000),
        body_bytes: count(raw.body_bytes, 4 * 1024 * 1024),
        read: seconds(raw.read_seconds, 10),
        write: seconds(raw.write_seconds, 30),
        call: seconds(raw.call_seconds, 120),
        connections: count(raw.connections, 4096),
        connections_per_address: count(raw.connections_per_address, 256),
        buffer_bytes: count(raw.buffer_bytes, 256 * 1024 * 1024),
        sessions: count(raw.sessions, 1000),
        session_idle: seconds(raw.session_idle_seconds, 300),
        shutdown: seconds(raw.shutdown_seconds, 10),
    }
}
