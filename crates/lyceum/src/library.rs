//! The library service, built from the configuration.

use std::{collections::BTreeMap, fmt::Write, sync::Arc, time::Duration};

use anyhow::Context as _;
use futures::future::BoxFuture;
use lyceum_content::SourceStatus;
use lyceum_library::{Library, Options, PartKind, PartOptions, Reader, SourceOptions, State};
use lyceum_model::Domain;
use lyceum_source::{file_links, folder_links, github::GitHub};
use lyceum_tools::{Prefix, Registry, RegistryError};
use serde_json::{Map, json};

use crate::{
    config::{self, AuthService, Config, LibraryPart, LibraryService, Location, Repository},
    service::{Context, Delivery, Examination, Finding, Health, Kind, Service},
    sources,
};

/// Default polling interval of repositories.
const DEFAULT_POLL_MINUTES: u64 = 15;

/// The kind: `[library]`.
pub(crate) static KIND: Kind = Kind {
    table: "library",
    hint: "add a [library] table to lyceum.toml",
    schema: |generator| generator.subschema_for::<config::raw::Library>(),
    scopes: Vec::new,
    check: config::library::check,
    make: |declared, workshop| {
        let Some(settings) = declared.settings::<LibraryService>() else { return Ok(Vec::new()) };
        let library = open(workshop.config, &declared.prefix, settings)?;
        library.load_local();
        Ok(vec![Arc::new(LibraryOffer {
            name: declared.name.clone(),
            prefix: declared.prefix.clone(),
            declared: settings.clone(),
            library,
        })])
    },
};

/// A library as a service.
struct LibraryOffer {
    name: Domain,
    prefix: Prefix,
    declared: LibraryService,
    library: Arc<Library>,
}

/// Opens a library, without indexes.
fn open(config: &Config, prefix: &Prefix, declared: &LibraryService) -> anyhow::Result<Arc<Library>> {
    let github = match &config.auth {
        AuthService::Gated(oauth) => {
            oauth.github.as_ref().map(|github| GitHub::new(github.api())).transpose()?
        }
        AuthService::Open => None,
    };
    let mut by_name = BTreeMap::new();
    for part in declared.parts.values() {
        by_name.entry(part.source.name.clone()).or_insert(&part.source);
    }
    let mut opened = Vec::new();
    for (name, source) in by_name {
        let poll = Duration::from_secs(poll_minutes(&source.location).saturating_mul(60));
        let source = sources::source(config, source).context("a source can't be used")?;
        opened.push(SourceOptions { name, source, poll });
    }
    let mut parts = BTreeMap::new();
    for (kind, part) in &declared.parts {
        let reader = reader(part, github.as_ref()).context("the library has no GitHub to read from")?;
        let (source, path, links) = (part.source.name.clone(), part.path.clone(), links(config, part));
        parts.insert(*kind, PartOptions { source, path, reader, links });
    }
    Ok(Arc::new(Library::new(Options { sources: opened, parts, prefix: prefix.clone() })))
}

/// All declared libraries, for one-off commands.
pub(crate) fn all(config: &Config) -> anyhow::Result<Vec<(Domain, Arc<Library>)>> {
    let declared = config.services_of::<LibraryService>();
    declared.map(|(one, settings)| Ok((one.name.clone(), open(config, &one.prefix, settings)?))).collect()
}

fn reader(part: &LibraryPart, github: Option<&GitHub>) -> Option<Reader> {
    let branch = match &part.source.location {
        Location::Repository(repository) => Some(repository.branch.clone()),
        Location::Folder(_) | Location::Example => None,
    };
    match (&part.repo, branch) {
        (None, branch) => Some(Reader::Server { repo: part.source.name.to_string(), branch }),
        (Some(repo), Some(branch)) => {
            Some(Reader::Caller { github: github?.clone(), repo: repo.clone(), branch })
        }
        (Some(_), None) => None,
    }
}

/// Template of links to files. A repository that callers read is on the GitHub server that checks their tokens.
fn links(config: &Config, part: &LibraryPart) -> Option<String> {
    let github = match &config.auth {
        AuthService::Gated(oauth) => oauth.github.as_ref(),
        AuthService::Open => None,
    };
    match &part.source.location {
        Location::Repository(repository) => {
            let on_github = || {
                let (github, repo) = (github?, part.repo.as_ref()?);
                Some(format!("{}{repo}/blob/{{commit}}/{{path}}", github.web()))
            };
            repository.web_url.clone().or_else(on_github).or_else(|| file_links(&repository.url))
        }
        Location::Folder(folder) => folder_links(folder),
        Location::Example => None,
    }
}

fn poll_minutes(location: &Location) -> u64 {
    match location {
        Location::Repository(repository) => repository.poll_minutes.unwrap_or(DEFAULT_POLL_MINUTES),
        Location::Folder(_) | Location::Example => DEFAULT_POLL_MINUTES,
    }
}

impl LibraryOffer {
    fn state(&self) -> State {
        self.library.state().borrow().clone()
    }

    /// Number of entries of each part that has an index.
    fn counts(&self, state: &State) -> Map<String, serde_json::Value> {
        let parts = self.library.parts();
        let counts =
            parts.filter_map(|(kind, _)| Some((kind.as_str().to_owned(), json!(state.indexes.count(kind)?))));
        counts.collect()
    }
}

impl Service for LibraryOffer {
    fn name(&self) -> &Domain {
        &self.name
    }

    fn instructions(&self) -> String {
        let of = |name| self.prefix.of(name);
        let texts = self.library.parts().map(|(kind, _)| match kind {
            PartKind::Skills => {
                format!("{} lists the team's skills, {} reads one.", of("list_skills"), of("get_skill"))
            }
            PartKind::Agents => {
                format!(
                    "{} lists the team's agent profiles, {} reads one.",
                    of("list_agents"),
                    of("get_agent")
                )
            }
            PartKind::Docs => {
                format!("{} lists the team's docs, {} reads a page.", of("list_docs"), of("get_doc"))
            }
        });
        let search = format!("{} searches all that is listed.", of("search_library"));
        texts.chain([search]).collect::<Vec<_>>().join(" ")
    }

    fn offer(&self) -> Result<Registry, RegistryError> {
        let builder = Registry::builder().prefixed(&self.prefix);
        Ok(lyceum_library::register(builder, &self.name, &self.library)?.build())
    }

    fn sources(&self) -> Vec<SourceStatus> {
        self.library.sources()
    }

    fn start(self: Arc<Self>, context: &Context) {
        context.spawn(self.library.clone().keep_fresh(context.stopping()));
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            let state = self.state();
            let missing = self.library.parts().find(|(kind, _)| state.indexes.count(*kind).is_none());
            let waiting_for = missing.map(|(kind, part)| match state.errors.get(&part.source) {
                Some(error) => format!("cannot read the {}: {error}", kind.as_str()),
                None => format!("the {} are being fetched", kind.as_str()),
            });
            let detail = Some(json!(self.counts(&state)));
            Health { is_well: state.errors.is_empty(), waiting_for, detail, ..Health::default() }
        })
    }

    fn about(&self, _: &str) -> String {
        let counts: Vec<String> =
            self.counts(&self.state()).iter().map(|(part, count)| format!("{count} {part}")).collect();
        format!("\nLibrary {}: {}\n", self.name, counts.join(", "))
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(async {
            self.library.sync_all().await;
            let state = self.state();
            let (mut text, mut findings) = (String::new(), Vec::new());
            for (kind, part) in self.library.parts() {
                write!(text, "{} of source {}: ", kind.as_str(), part.source)?;
                match (state.indexes.count(kind), state.errors.get(&part.source)) {
                    (_, Some(error)) => writeln!(text, "sync failed: {error}")?,
                    (count, None) => writeln!(text, "{}", count.unwrap_or_default())?,
                }
                findings.extend(state.indexes.findings(kind).iter().map(|finding| Finding {
                    severity: "warning",
                    path: finding.file.to_string(),
                    line: None,
                    field: None,
                    message: finding.message.clone(),
                }));
            }
            Ok(Examination { text, findings, is_well: state.errors.is_empty() })
        })
    }

    fn pushed<'a>(
        &'a self,
        repositories: &'a [&'a Repository],
        _: Option<&'a str>,
    ) -> BoxFuture<'a, anyhow::Result<Delivery>> {
        let is_pushed = |part: &LibraryPart| match &part.source.location {
            Location::Repository(one) => repositories.contains(&one),
            Location::Folder(_) | Location::Example => false,
        };
        let pushed: Vec<_> = self
            .declared
            .parts
            .values()
            .filter(|part| is_pushed(part))
            .map(|part| &part.source.name)
            .collect();
        // Nothing to persist: every start syncs anyway.
        self.library.request_sync(|name| pushed.contains(&name));
        let delivery = if pushed.is_empty() { Delivery::NotOurs } else { Delivery::Accepted };
        Box::pin(async move { Ok(delivery) })
    }
}
