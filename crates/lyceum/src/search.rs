//! Search in this process: made of the configuration, fed by the services that are on, and kept up with them.

mod index;
mod skills;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_search::{
    Options, Ranking, Search,
    embedder::{self, EmbedError, Embedder},
    model, reranker,
};

use crate::{
    app::App,
    config::{Config, DEFAULT_MODEL, SearchService},
    sources,
};

pub(crate) use index::Index;

/// How often it is told how far a model is.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Makes search, where there is a knowledge base to ask; skills are searched with it.
pub(crate) fn service(config: &Config) -> Option<Arc<Search>> {
    let folder = folder(config)?;
    Some(Arc::new(Search::new(options(config, folder))))
}

/// The folder of the index, by all that is searched: two servers of one user must not find each other's documents, and
/// what is no longer searched must not be found.
pub(crate) fn folder(config: &Config) -> Option<PathBuf> {
    let knowledge = sources::folder_name(&config.knowledge.as_ref()?.source);
    let skills = config.skills.as_ref().map(|skills| (sources::folder_name(&skills.source), &skills.path));
    let name = match &skills {
        None => knowledge,
        Some(skills) => format!("{knowledge}-{:016x}", sources::hash(&format!("{skills:?}"))),
    };
    Some(config.data_dir.join("search").join(name))
}

/// What a search is made of by the configuration, with its files in that folder.
pub(crate) fn options(config: &Config, folder: PathBuf) -> Options {
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
    let connect: lyceum_search::Connect = Arc::new(move |settings| {
        let declared = declared.clone();
        Box::pin(async move { connect(&declared, &settings).await })
    });
    Options { folder, embedder, connect, reranker }
}

/// Starts what keeps search open, filled and fed.
pub(crate) fn start(app: &App, search: &Arc<Search>) {
    let stop = app.tasks.stopping();
    app.tasks.spawn(search.clone().keep_open(stop.clone()));
    app.tasks.spawn(search.clone().keep_filled(stop.clone()));
    app.tasks.spawn(search.clone().keep_ranked(stop.clone()));
    if let Some(knowledge) = &app.knowledge {
        app.tasks.spawn(knowledge.clone().keep_searched(search.clone(), stop.clone()));
    }
    if let Some(service) = &app.skills {
        app.tasks.spawn(skills::keep_searched(service.clone(), search.clone(), stop));
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
    tracing::info!(
        model.name = name,
        "the model is not here yet and is fetched once; until it is, answers are found by their words"
    );
    let mut said = Instant::now();
    let options = pull_options(declared, name);
    let pulled = model::pull(&options, |progress| {
        let is_step = !matches!(progress, model::Progress::Downloading { .. });
        if is_step || said.elapsed() > TELL_EVERY {
            said = Instant::now();
            tracing::info!(model.name = name, "{progress}");
        }
    });
    pulled.await.map_err(|error| EmbedError::Model(error.to_string()))?;
    tracing::info!(model.name = name, "the model is here");
    Ok(())
}

/// Where a model comes from and goes to, by the configuration.
pub(crate) fn pull_options(declared: &SearchService, name: &str) -> model::PullOptions {
    let usual = model::PullOptions::new(&declared.models);
    let repo = if name == DEFAULT_MODEL { usual.repo.clone() } else { name.to_owned() };
    model::PullOptions { repo, hub: declared.hub.clone(), ..usual }
}
