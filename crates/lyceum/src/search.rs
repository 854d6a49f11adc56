//! Search in this process: made of the configuration, fed by the services that are on, and kept up with them.

mod index;
pub(crate) mod skills;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use lyceum_knowledge::Knowledge;
use lyceum_model::Domain;
use lyceum_models::{
    embedder::{self, EmbedError, Embedder},
    model, reranker,
};
use lyceum_search::{Options, Ranking, Search, State, Status};
use tokio::sync::Mutex;

use crate::{
    config::{Config, DEFAULT_MODEL, KnowledgeService, SearchService, SkillsService},
    deadline::within,
    recent::Recent,
    service::{Context, Examination, Health, Service},
    sources,
};

pub(crate) use index::Index;

/// The name of the index of the knowledge base that has no name of its own.
const DEFAULT_INDEX_NAME: Domain = Domain::from_static("search");

/// How long an index may take to say how far it is.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// How often it is told how far a model is.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// The indexes of this process, one for each knowledge base; skills are found by the first.
pub(crate) struct Indexes(Vec<(Domain, Arc<Search>)>);

impl Indexes {
    /// Makes those that the configuration asks for. They share what embeds: a model is loaded once.
    pub(crate) fn new(config: &Config) -> Self {
        let embedders = Embedders::default();
        let of = |name: Domain| {
            let folder = folder(config, &name)?;
            let search = Search::new(options_sharing(config, folder, &embedders));
            Some((name, Arc::new(search)))
        };
        Self(config.services_of::<KnowledgeService>().filter_map(|(one, _)| of(one.name.clone())).collect())
    }

    /// That of the knowledge base of this name.
    pub(crate) fn of(&self, name: &Domain) -> Option<&Arc<Search>> {
        self.0.iter().find(|(one, _)| one == name).map(|(_, search)| search)
    }

    /// The one that skills are found by.
    pub(crate) fn first(&self) -> Option<&Arc<Search>> {
        self.0.first().map(|(_, search)| search)
    }
}

/// The folder of the index of a knowledge base, by all that is searched: two servers of one user must not find each other's
/// documents, and what is no longer searched must not be found.
pub(crate) fn folder(config: &Config, name: &Domain) -> Option<PathBuf> {
    let mut bases = config.services_of::<KnowledgeService>();
    let place = bases.position(|(one, _)| one.name == *name)?;
    let (_, declared) = config.services_of::<KnowledgeService>().nth(place)?;
    let mut folder = sources::folder_name(&declared.source);
    if name.as_str() != "knowledge" {
        folder = format!("{name}.{folder}");
    }
    let of_skills =
        |service: &SkillsService| format!("{:?}", (sources::folder_name(&service.source), &service.path));
    let skills: Vec<String> = config.services_of().map(|(_, service)| of_skills(service)).collect();
    if place == 0 && !skills.is_empty() {
        folder = format!("{folder}-{:016x}", sources::hash(&skills.join("\n")));
    }
    Some(config.data_dir.join("search").join(folder))
}

/// What a search is made of by the configuration, with its files in that folder.
pub(crate) fn options(config: &Config, folder: PathBuf) -> Options {
    options_sharing(config, folder, &Embedders::default())
}

fn options_sharing(config: &Config, folder: PathBuf, embedders: &Embedders) -> Options {
    let declared = config.search.clone();
    let embedder = match &declared.embedder {
        embedder::Settings::None => None,
        // Texts and numbers in a struct: there is nothing that could fail.
        settings => serde_json::to_string(settings).ok(),
    };
    let reranker = match &declared.reranker {
        reranker::Settings::None => None,
        settings => Some(Ranking {
            budget: settings.budget(),
            reranker: Arc::new(reranker::Deferred::new(settings.clone(), declared.reranker_key.clone())),
        }),
    };
    let embedders = embedders.clone();
    let connect: lyceum_search::Connect = Arc::new(move |settings| {
        let (declared, embedders) = (declared.clone(), embedders.clone());
        Box::pin(async move { embedders.get(&declared, settings).await })
    });
    Options { folder, embedder, connect, reranker }
}

/// What embeds, by its settings: indexes that want the same share it.
#[derive(Clone, Default)]
struct Embedders(Arc<Mutex<HashMap<String, Weak<dyn Embedder>>>>);

impl Embedders {
    async fn get(&self, declared: &SearchService, settings: String) -> Result<Arc<dyn Embedder>, EmbedError> {
        // Held while one is set up, so that two indexes do not both load a model.
        let mut known = self.0.lock().await;
        if let Some(embedder) = known.get(&settings).and_then(Weak::upgrade) {
            return Ok(embedder);
        }
        let embedder = connect(declared, &settings).await?;
        known.insert(settings, Arc::downgrade(&embedder));
        Ok(embedder)
    }
}

/// The index of a knowledge base, as a service: it has no tools of its own.
pub(crate) struct SearchIndex {
    name: Domain,
    knowledge: Arc<Knowledge>,
    search: Arc<Search>,
    status: Recent<bool, Option<Status>>,
}

impl SearchIndex {
    /// That of the knowledge base of this name.
    pub(crate) fn new(base: &Domain, knowledge: Arc<Knowledge>, search: Arc<Search>) -> Self {
        let own = || Domain::parse(&format!("{base}-search")).unwrap_or(DEFAULT_INDEX_NAME);
        let name = if base.as_str() == "knowledge" { DEFAULT_INDEX_NAME } else { own() };
        Self { name, knowledge, search, status: Recent::default() }
    }
}

impl Service for SearchIndex {
    fn name(&self) -> &Domain {
        &self.name
    }

    /// Starts what keeps it open, filled and fed.
    fn start(self: Arc<Self>, context: &Context) {
        let (stop, search) = (context.stopping(), &self.search);
        context.spawn(search.clone().keep_open(stop.clone()));
        context.spawn(search.clone().keep_embedded(stop.clone()));
        context.spawn(search.clone().keep_ranked(stop.clone()));
        context.spawn(self.knowledge.clone().keep_searched(search.clone(), stop));
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            // What is shown is looked at first: when the index is said to be ready, all of that can be found.
            let is_searched = self.knowledge.is_searched();
            let read = async { within(STATUS_TIMEOUT, self.search.status()).await.ok()?.ok() };
            let mut status = self.status.get(is_searched, read).await;
            if let Some(status) =
                status.as_mut().filter(|status| status.state == State::Ready && !is_searched)
            {
                status.state = State::Indexing;
            }
            let is_well = status.as_ref().is_some_and(|status| status.state != State::Degraded);
            let detail = status.and_then(|status| serde_json::to_value(status).ok());
            Health { is_well, detail, ..Health::default() }
        })
    }

    /// The model is looked at once for all indexes, by the command itself.
    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(async { Ok(Examination { text: String::new(), is_well: true }) })
    }
}

/// Sets a model up by its settings as they are kept.
async fn connect(declared: &SearchService, settings: &str) -> Result<Arc<dyn Embedder>, EmbedError> {
    let settings: embedder::Settings =
        serde_json::from_str(settings).map_err(|error| EmbedError::Model(error.to_string()))?;
    if let embedder::Settings::Local(local) = &settings
        && declared.fetch
        && local.folder.is_none()
        && !local.folder_in(&declared.models).exists()
    {
        fetch(declared, &local.model).await?;
    }
    // A model that made vectors before may be elsewhere: the key is for the one that is declared.
    let key = declared.embedder_key.clone().filter(|_| settings.is_where(&declared.embedder));
    embedder::connect(&settings, key, &declared.models).await
}

/// Fetches a model, and says so.
async fn fetch(declared: &SearchService, name: &str) -> Result<(), EmbedError> {
    tracing::info!(model.name = name, "downloading the embedding model; search is lexical until it is ready");
    let mut logged = Instant::now();
    let options = pull_options(declared, name);
    let pulled = model::pull(&options, |progress| {
        let is_step = !matches!(progress, model::Progress::Downloading { .. });
        if is_step || logged.elapsed() > PROGRESS_INTERVAL {
            logged = Instant::now();
            tracing::info!(model.name = name, "{progress}");
        }
    });
    pulled.await.map_err(|error| EmbedError::Model(error.to_string()))?;
    tracing::info!(model.name = name, "the embedding model is ready");
    Ok(())
}

/// Where a model comes from and goes to, by the configuration.
pub(crate) fn pull_options(declared: &SearchService, name: &str) -> model::PullOptions {
    let usual = model::PullOptions::new(&declared.models);
    let repo = if name == DEFAULT_MODEL { usual.repo.clone() } else { name.to_owned() };
    model::PullOptions { repo, hub: declared.hub.clone(), ..usual }
}
