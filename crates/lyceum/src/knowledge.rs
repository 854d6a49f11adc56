//! The knowledge service, built from the configuration.

mod about;
mod drafts;
mod examine;
mod health;
mod inventory;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use futures::future::BoxFuture;
use lyceum_content::{SourceState, SourceStatus};
use lyceum_knowledge::{
    CatalogSnapshot, Features, Knowledge, KnowledgeSearch, Links, NamedBase, Options, PublicContent, State,
};
use lyceum_model::{Access, Domain, KNOWLEDGE_READ, Right, Scope, Tier};
use lyceum_source::{file_links, folder_links};
use lyceum_tools::{Change, Prefix, Registry, RegistryError};
use tokio::sync::watch;

use crate::{
    config::{self, Config, KnowledgeService, Location, Repository},
    http::{self, Route},
    recent::Recent,
    search::SearchIndex,
    service::{Context, Declared, Delivery, Examination, Health, Inventory, Kind, Service, Workshop},
    sources,
    storage::{self, Storage},
};
use health::Pending;

/// Default poll interval of repositories.
const DEFAULT_POLL_MINUTES: u64 = 15;

/// The kind: `[knowledge]`.
pub(crate) static KIND: Kind = Kind {
    table: "knowledge",
    hint: "add a [knowledge] table to lyceum.toml",
    schema: |generator| generator.subschema_for::<config::raw::Knowledge>(),
    scopes: || {
        let refresh = Scope::from_static("sources:refresh");
        vec![
            Right::new(KNOWLEDGE_READ, Tier::Member, "Read the knowledge base, with full documents"),
            Right::new(refresh, Tier::Vibecoder, "Bring in the newest state of the sources"),
        ]
    },
    check: config::knowledge::check,
    make,
};

/// A knowledge base as a service.
pub(crate) struct KnowledgeBase {
    name: Domain,
    pub(crate) prefix: Prefix,
    declared: KnowledgeService,
    pub(crate) finder: Arc<KnowledgeSearch>,
    /// Objects pending upload, by the database.
    pending: Recent<ByAddress, Option<Pending>>,
    /// Its OpenAPI description, built on first use.
    pub(crate) openapi: OnceLock<Bytes>,
}

/// A snapshot, compared by identity.
struct ByAddress(Arc<CatalogSnapshot>);

impl PartialEq for ByAddress {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn make(declared: &Declared, workshop: &Workshop<'_>) -> anyhow::Result<Vec<Arc<dyn Service>>> {
    let (Some(settings), Some(search)) =
        (declared.settings::<KnowledgeService>(), workshop.indexes.of(&declared.name))
    else {
        return Ok(Vec::new());
    };
    let knowledge = open(workshop.config, workshop.storage, &declared.name, settings)?;
    let index = SearchIndex::new(&declared.name, knowledge.clone(), search.clone());
    let base = KnowledgeBase {
        name: declared.name.clone(),
        prefix: declared.prefix.clone(),
        declared: settings.clone(),
        finder: Arc::new(KnowledgeSearch { knowledge, search: search.clone() }),
        pending: Recent::default(),
        openapi: OnceLock::new(),
    };
    Ok(vec![Arc::new(base), Arc::new(index)])
}

/// Opens a knowledge base as of its last sync.
pub(crate) fn open(
    config: &Config,
    storage: &Storage,
    name: &Domain,
    declared: &KnowledgeService,
) -> anyhow::Result<Arc<Knowledge>> {
    let of_source = sources::folder_name(&declared.source);
    // Two knowledge bases may read the same source with different settings.
    let key = if name.as_str() == KIND.table { of_source } else { format!("{name}.{of_source}") };
    let folder = config.data_dir.join(KIND.table).join(&key);
    let drafts = declared.drafts.as_ref().map(|drafts| drafts::options(config, &declared.source, drafts));
    let knowledge = Knowledge::open(Options {
        name: declared.source.name.clone(),
        source: sources::source(config, &declared.source).context("a source can't be used")?,
        ontology: declared.ontology.clone(),
        rules: declared.rules.clone(),
        publish: declared.publish,
        exclude: declared.exclude.clone(),
        links: links(declared),
        poll: poll(declared),
        title: declared.title.clone(),
        public: declared.public,
        objects: storage::objects(config, declared.bucket.as_ref(), name, &folder.join("objects"))?,
        folder,
        shared: storage.db().map(|db| (db.clone(), key)),
        drafts: drafts.transpose()?,
    })?;
    Ok(Arc::new(knowledge))
}

/// All declared knowledge bases, for one-off commands.
pub(crate) fn all(config: &Config, storage: &Storage) -> anyhow::Result<Vec<(Domain, Arc<Knowledge>)>> {
    let declared = config.services_of::<KnowledgeService>();
    declared
        .map(|(one, settings)| Ok((one.name.clone(), open(config, storage, &one.name, settings)?)))
        .collect()
}

impl KnowledgeBase {
    pub(crate) fn knowledge(&self) -> &Arc<Knowledge> {
        &self.finder.knowledge
    }

    /// What of it is public.
    pub(crate) fn public(&self) -> PublicContent {
        self.declared.public
    }

    /// Its table in `lyceum.toml`.
    fn table(&self) -> String {
        let (kind, name) = (KIND.table, self.name.as_str());
        if name == kind { format!("[{kind}]") } else { format!("[{kind}.{name}]") }
    }

    /// Path prefix of its REST API; empty for an unnamed knowledge base.
    pub(crate) fn root(&self) -> String {
        if self.name.as_str() == KIND.table { String::new() } else { format!("/{}", self.name) }
    }
}

impl Service for KnowledgeBase {
    fn name(&self) -> &Domain {
        &self.name
    }

    /// Not shown to whoever may not even search it.
    fn access(&self) -> Access {
        self.public().summaries(&self.name)
    }

    fn instructions(&self) -> String {
        let (title, of) = (self.knowledge().title(), |name| self.prefix.of(name));
        let snapshot = self.knowledge().snapshot();
        let define = match Features::of(&snapshot).lexicon {
            true => format!(" {} for the meaning of a term,", of("define_term")),
            false => String::new(),
        };
        let about = match snapshot.profile.about.as_str() {
            "" => String::new(),
            about => format!(" {about}"),
        };
        format!(
            "Questions about {title} are answered by its knowledge base: {search} for a question,{define} {get} for a full \
             document.{about} Cite the title and commit of documents that you quote.",
            search = of("search_knowledge"),
            get = of("get_document"),
        )
    }

    fn offer(&self) -> Result<Registry, RegistryError> {
        let builder = Registry::builder().prefixed(&self.prefix);
        Ok(lyceum_knowledge::register(builder, &self.name, &self.finder)?.build())
    }

    fn scopes(&self) -> Vec<Right> {
        if self.declared.drafts.is_some() { drafts::scopes() } else { Vec::new() }
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        http::api_routes(&self)
    }

    fn sources(&self) -> Vec<SourceStatus> {
        let State { snapshot, error } = self.knowledge().current_state();
        vec![SourceStatus {
            name: self.knowledge().source_name().clone(),
            state: match (&error, &snapshot.version) {
                (Some(_), _) => SourceState::Failed,
                (None, Some(_)) => SourceState::Ready,
                (None, None) => SourceState::Pending,
            },
            commit: snapshot.version.clone(),
            synced_at: snapshot.synced_at,
            error,
        }]
    }

    fn searched(&self) -> Option<NamedBase> {
        Some(NamedBase {
            name: self.name.clone(),
            prefix: self.prefix.clone(),
            access: self.access(),
            finder: self.finder.clone(),
        })
    }

    fn start(self: Arc<Self>, context: &Context) {
        let (stop, knowledge) = (context.stopping(), self.knowledge());
        // Subscribe before anything can change.
        context.spawn(show(self.clone(), context.clone(), knowledge.state()));
        context.spawn(knowledge.clone().keep_catalog(stop.clone()));
        // Shutdown waits until it has given up its lease.
        let _waited_for = context.tasks.spawn_to_its_end(knowledge.clone().keep_fresh(stop));
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            let state = self.knowledge().current_state();
            let read = health::pending(self.knowledge());
            let pending = self.pending.get(ByAddress(state.snapshot.clone()), read).await;
            health::of(&state, pending)
        })
    }

    fn about(&self, url: &str) -> String {
        about::text(self, url)
    }

    fn inventory(&self) -> BoxFuture<'_, Option<Inventory>> {
        Box::pin(async { Some(inventory::inventory(&self.table(), self.knowledge()).await) })
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(examine::examine(self.name.as_str(), self.knowledge()))
    }

    fn pushed<'a>(
        &'a self,
        repositories: &'a [&'a Repository],
        delivery: Option<&'a str>,
    ) -> BoxFuture<'a, anyhow::Result<Delivery>> {
        Box::pin(async move {
            match &self.declared.source.location {
                Location::Repository(one) if repositories.contains(&one) => {}
                Location::Repository(_) | Location::Folder(_) | Location::Example => {
                    return Ok(Delivery::NotOurs);
                }
            }
            Ok(match self.knowledge().accept(delivery).await? {
                lyceum_knowledge::Delivery::Accepted => Delivery::Accepted,
                lyceum_knowledge::Delivery::Known => Delivery::Known,
            })
        })
    }
}

/// Notifies clients of changes in each new catalog, and publishes the offer if it has other features or texts.
async fn show(base: Arc<KnowledgeBase>, context: Context, mut state: watch::Receiver<State>) {
    let mut before = state.borrow().snapshot.clone();
    // The first offer was made before this task started.
    let mut offered = None;
    loop {
        let now = state.borrow_and_update().snapshot.clone();
        for change in changes(base.knowledge(), &before, &now) {
            context.announce(change);
        }
        let texts = (Features::of(&now), now.profile.clone());
        if offered.as_ref() != Some(&texts) {
            context.publish(&*base);
            offered = Some(texts);
        }
        before = now;
        if state.changed().await.is_err() {
            return;
        }
    }
}

/// The resources that changed between two catalogs.
fn changes(knowledge: &Knowledge, before: &CatalogSnapshot, now: &CatalogSnapshot) -> Vec<Change> {
    let by_key = |snapshot: &CatalogSnapshot| -> BTreeMap<String, String> {
        snapshot.catalog.entries().iter().map(|entry| (entry.key(), entry.hash.clone())).collect()
    };
    let (old, new) = (by_key(before), by_key(now));
    let mut changes = Vec::new();
    if !old.keys().eq(new.keys()) {
        changes.push(Change::Resources);
    }
    let changed = old.iter().filter(|(key, hash)| new.get(*key) != Some(hash)).map(|(key, _)| key);
    let changed = changed.flat_map(|key| lyceum_knowledge::document_uris(knowledge, key));
    changes.extend(changed.map(Change::Resource));
    if old != new {
        changes.extend(lyceum_knowledge::list_uris(knowledge).map(Change::Resource));
    }
    changes
}

fn links(declared: &KnowledgeService) -> Links {
    match &declared.source.location {
        Location::Repository(repository) => {
            Links(repository.web_url.clone().or_else(|| file_links(&repository.url)))
        }
        // A local clone has the links of its remote.
        Location::Folder(folder) => Links(folder_links(folder)),
        Location::Example => Links(None),
    }
}

fn poll(declared: &KnowledgeService) -> Duration {
    let minutes = match &declared.source.location {
        Location::Repository(repository) => repository.poll_minutes.unwrap_or(DEFAULT_POLL_MINUTES),
        Location::Folder(_) | Location::Example => DEFAULT_POLL_MINUTES,
    };
    Duration::from_secs(minutes.saturating_mul(60))
}
