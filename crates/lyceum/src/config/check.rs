//! The raw form → a [`Config`], with every fault that the schema can't see.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf, time::Duration};

use http::Uri;
use lyceum_model::SourceName;
use serde::Deserialize;

use super::{
    AuthMode, Config, Limits, Location, Source,
    document::Document,
    environment,
    fault::{Fault, Faults},
    raw::{self, Raw},
    schema,
};
use crate::http::{HostRule, Origin};

/// The address that is used when none is written.
const DEFAULT_LISTEN: &str = "127.0.0.1:8787";

pub(super) fn check(document: &Document) -> Result<Config, Faults> {
    let mut faults = schema::faults(document);
    if faults.is_empty() {
        match Raw::deserialize(&document.values) {
            Ok(raw) => return Checker { document, faults: Vec::new() }.config(raw),
            Err(error) => faults.push(Fault {
                place: document.place(""),
                key: String::new(),
                message: error.to_string(),
            }),
        }
    }
    faults.sort();
    Err(Faults(faults))
}

/// Collects faults while values are made; a value that is at fault gets a stand-in that is never used.
struct Checker<'a> {
    document: &'a Document,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn config(mut self, raw: Raw) -> Result<Config, Faults> {
        let listen = self.listen(raw.server.listen.as_deref());
        let public_url = raw.server.public_url.as_deref().and_then(|url| self.public_url(url));
        let origins = self.origins(&raw.server.allowed_origins);
        let hosts = self.hosts(listen, public_url.as_deref(), &raw.server.allowed_hosts);
        let sources = self.sources(&raw.source);
        let data_dir =
            raw.server.data_dir.map_or_else(environment::default_data_dir, |folder| self.path(&folder));
        if !self.faults.is_empty() {
            self.faults.sort();
            return Err(Faults(self.faults));
        }
        Ok(Config {
            listen,
            public_url,
            data_dir,
            allowed_origins: origins,
            hosts,
            limits: limits(&raw.limits),
            auth: raw.auth.mode.unwrap_or(AuthMode::Open),
            sources,
        })
    }

    fn listen(&mut self, written: Option<&str>) -> SocketAddr {
        let text = written.unwrap_or(DEFAULT_LISTEN);
        // `localhost` is how people say it; an address is what can be listened on.
        let address = text
            .strip_prefix("localhost:")
            .map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
        address.parse().unwrap_or_else(|_| {
            let message = format!(
                "{text:?} is not an address and a port; write for example listen = {DEFAULT_LISTEN:?}"
            );
            self.fault("/server/listen", message);
            SocketAddr::from(([127, 0, 0, 1], 0))
        })
    }

    fn public_url(&mut self, text: &str) -> Option<String> {
        let uri = text.parse::<Uri>().ok();
        let good = uri.as_ref().is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.host().is_some()
                && uri.path() == "/"
                && uri.query().is_none()
        });
        if good {
            return Some(text.trim_end_matches('/').to_owned());
        }
        let message = format!(
            "{text:?} is not the root of a site; write for example public_url = \"https://mcp.example.org\""
        );
        self.fault("/server/public_url", message);
        None
    }

    fn origins(&mut self, written: &[String]) -> Vec<Origin> {
        let mut origins = Vec::new();
        for (index, text) in written.iter().enumerate() {
            match Origin::parse(text) {
                Some(origin) => origins.push(origin),
                None => self.fault(
                    &format!("/server/allowed_origins/{index}"),
                    format!("{text:?} is not an origin; write scheme, host and port only, such as \"https://app.example.org\""),
                ),
            }
        }
        origins
    }

    fn hosts(&mut self, listen: SocketAddr, public_url: Option<&str>, further: &[String]) -> HostRule {
        for (index, name) in further.iter().enumerate() {
            if name.is_empty() || name.contains(['/', ':', ' ', '*']) {
                let message = format!(
                    "{name:?} is not a host name; write it without scheme and port, such as \"lyceum.internal\""
                );
                self.fault(&format!("/server/allowed_hosts/{index}"), message);
            }
        }
        let public =
            public_url.and_then(|url| url.parse::<Uri>().ok()).and_then(|uri| uri.host().map(str::to_owned));
        HostRule::new(listen, public.into_iter().chain(further.iter().cloned()))
    }

    fn sources(&mut self, written: &[raw::Source]) -> Vec<Source> {
        let mut sources = Vec::new();
        let mut names = BTreeSet::new();
        for (index, source) in written.iter().enumerate() {
            let at = format!("/source/{index}");
            if !names.insert(source.name.clone()) {
                self.fault(
                    &format!("{at}/name"),
                    format!("{:?} is the name of an earlier source; give each its own", source.name),
                );
            }
            let name = SourceName::parse(&source.name)
                .map_err(|error| self.fault(&format!("{at}/name"), error.to_string()));
            let location = match (&source.url, &source.path) {
                (Some(url), None) => Some(Location::Repository(url.clone())),
                (None, Some(path)) => Some(Location::Folder(self.path(path))),
                _ => {
                    self.fault(&at, "write either url (a Git repository) or path (a folder)".to_owned());
                    None
                }
            };
            if let (Ok(name), Some(location)) = (name, location) {
                sources.push(Source { name, location });
            }
        }
        sources
    }

    /// Relative paths start at the folder of the file they stand in.
    fn path(&self, written: &str) -> PathBuf {
        self.document.folder().join(written)
    }

    fn fault(&mut self, pointer: &str, message: String) {
        let key = pointer.trim_start_matches('/').replace('/', ".");
        self.faults.push(Fault { place: self.document.place(pointer), key, message });
    }
}

fn limits(raw: &raw::Limits) -> Limits {
    let count = |written: Option<u64>, default: usize| {
        written.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX))
    };
    let seconds = |written: Option<u64>, default: u64| Duration::from_secs(written.unwrap_or(default));
    Limits {
        body_bytes: count(raw.body_bytes, 4 * 1024 * 1024),
        read: seconds(raw.read_seconds, 10),
        write: seconds(raw.write_seconds, 30),
        call: seconds(raw.call_seconds, 120),
        connections: count(raw.connections, 4096),
        sessions: count(raw.sessions, 1000),
        session_idle: seconds(raw.session_idle_seconds, 300),
        shutdown: seconds(raw.shutdown_seconds, 10),
    }
}
