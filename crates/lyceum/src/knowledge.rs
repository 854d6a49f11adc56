//! The knowledge service in this process: made of the configuration, kept fresh, and shown in registry and catalog.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use lyceum_content::{Catalog, Current, SourceState, SourceStatus};
use lyceum_knowledge::{Knowledge, Links, Options, Readers, Shown, State};
use lyceum_model::SourceName;
use lyceum_source::file_links;
use lyceum_store::{Objects, S3Settings, Secret};
use lyceum_tools::Change;
use tokio::sync::watch;

use crate::{
    app::{App, StartError},
    config::{Config, KnowledgeApi, KnowledgeService, Location},
    sources,
};

/// How often a repository is asked for news where nothing else is written.
const POLL_MINUTES: u64 = 15;

/// Makes the service, if it is on, and lets it show what was brought in before.
pub(crate) fn service(config: &Config) -> Result<Option<Arc<Knowledge>>, StartError> {
    let Some(declared) = &config.knowledge else { return Ok(None) };
    let folder = config.data_dir.join("knowledge").join(sources::folder_name(&declared.source));
    let knowledge = Knowledge::open(Options {
        name: declared.source.name.clone(),
        source: sources::source(config, &declared.source)?,
        ontology: declared.ontology.clone(),
        rules: declared.rules.clone(),
        exclude: declared.exclude.clone(),
        links: links(declared),
        poll: poll(declared),
        title: declared.title.clone(),
        readers: readers(declared.api),
        objects: objects(declared, &folder)?,
        folder,
    })?;
    Ok(Some(Arc::new(knowledge)))
}

/// Starts what keeps the service fresh and visible.
pub(crate) fn start(app: &App, knowledge: &Arc<Knowledge>) {
    let stop = app.tasks.stopping();
    // Listening begins before anything can change.
    app.tasks.spawn(show(app.clone(), knowledge.clone(), knowledge.state()));
    app.tasks.spawn(knowledge.clone().keep_following(stop.clone()));
    app.tasks.spawn(knowledge.clone().keep_fresh(stop));
}

/// Tells clients what is new in each catalog.
async fn show(app: App, knowledge: Arc<Knowledge>, mut state: watch::Receiver<State>) {
    let mut before = state.borrow().shown.clone();
    while state.changed().await.is_ok() {
        let now = state.borrow_and_update().clone();
        note(&app.catalog, knowledge.source_name(), &now);
        for change in changes(&knowledge, &before, &now.shown) {
            app.mcp.hub().announce(change);
        }
        before = now.shown;
    }
}

/// What is no longer as clients may have kept it.
fn changes(knowledge: &Knowledge, before: &Shown, now: &Shown) -> Vec<Change> {
    let by_key = |shown: &Shown| -> BTreeMap<String, String> {
        shown.catalog.entries().iter().map(|entry| (entry.key(), entry.hash.clone())).collect()
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

/// Writes the state of the source into the catalog.
pub(crate) fn note(catalog: &Current<Catalog>, name: &SourceName, state: &State) {
    let State { shown, error } = state;
    let status = SourceStatus {
        name: name.clone(),
        state: match (error, &shown.version) {
            (Some(_), _) => SourceState::Failed,
            (None, Some(_)) => SourceState::Ready,
            (None, None) => SourceState::Pending,
        },
        commit: shown.version.clone(),
        synced_at: shown.synced_at,
        error: error.clone(),
    };
    sources::note(catalog, &status);
}

fn links(declared: &KnowledgeService) -> Links {
    match &declared.source.location {
        Location::Repository(repository) => {
            Links(repository.web_url.clone().or_else(|| file_links(&repository.url)))
        }
        Location::Folder(_) | Location::Example => Links(None),
    }
}

/// Who may read whole documents: where the REST API does not give them to everyone, nothing else does.
pub(crate) fn readers(api: KnowledgeApi) -> Readers {
    match api {
        KnowledgeApi::Public => Readers::Everyone,
        KnowledgeApi::Member | KnowledgeApi::Off => Readers::Members,
    }
}

fn poll(declared: &KnowledgeService) -> Duration {
    let minutes = match &declared.source.location {
        Location::Repository(repository) => repository.poll_minutes.unwrap_or(POLL_MINUTES),
        Location::Folder(_) | Location::Example => POLL_MINUTES,
    };
    Duration::from_secs(minutes.saturating_mul(60))
}

/// Where documents are kept: a bucket, else the data folder.
fn objects(declared: &KnowledgeService, folder: &Path) -> Result<Objects, StartError> {
    let Some(bucket) = &declared.bucket else { return Ok(Objects::local(&folder.join("objects"))?) };
    let secret = Secret::new(bucket.secret_key.reveal()).map_err(StartError::Secret)?;
    Ok(Objects::s3(&S3Settings {
        endpoint: bucket.endpoint.clone(),
        bucket: bucket.name.clone(),
        region: bucket.region.clone(),
        access_key_id: bucket.access_key.reveal().to_owned(),
        secret,
        prefix: bucket.prefix.clone().unwrap_or_default(),
    })?)
}
