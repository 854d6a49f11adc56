//! Where a deployment keeps its data: files in the data folder, or a database and a bucket that several nodes share.

pub(crate) mod deployment;
mod examine;

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use futures::future::BoxFuture;
use lyceum_auth::Key;
use lyceum_model::Domain;
use lyceum_store::{Db, Objects, S3Settings};

use crate::{
    config::{AuthService, Bucket, Config, SharedStore},
    deadline::within,
    recent::Recent,
    service::{Examination, Health, Service},
};

/// Name of the shared database in `/health` and in metrics.
pub(crate) static STORE: Domain = Domain::from_static("shared-store");

/// How long the database may take to answer a health check.
const PING_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// The storage of a process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Storage {
    /// The address, to see whether another configuration has the same.
    url: Option<String>,
    shared: Option<(Db, Key)>,
}

impl Storage {
    /// Connects to the configured database, if there is one. Blocks, and must not be called on a thread that runs async
    /// tasks, unless there is none.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        match &config.store {
            Some(store) => Self::of(config, store.settings.url.reveal(), connect(store)?),
            None => Ok(Self::default()),
        }
    }

    fn of(config: &Config, url: &str, db: Db) -> anyhow::Result<Self> {
        let configured = match &config.auth {
            AuthService::Gated(oauth) => oauth.key.clone(),
            AuthService::Open => None,
        };
        let key = deployment::key(&db, configured)?;
        Ok(Self { url: Some(url.to_owned()), shared: Some((db, key)) })
    }

    /// The same storage for another configuration, or a new one if it names another database.
    pub(crate) fn reopened(&self, config: &Config) -> anyhow::Result<Self> {
        let url = config.store.as_ref().map(|store| store.settings.url.reveal());
        match (&self.shared, url) {
            (Some((db, _)), Some(url)) if self.url.as_deref() == Some(url) => {
                Self::of(config, url, db.clone())
            }
            _ => Self::open(config),
        }
    }

    /// The database that several nodes share, if there is one.
    pub(crate) fn db(&self) -> Option<&Db> {
        self.shared.as_ref().map(|(db, _)| db)
    }

    /// The key that all nodes of the deployment have, if they share a database.
    pub(crate) fn key(&self) -> Option<&Key> {
        self.shared.as_ref().map(|(_, key)| key)
    }

    /// The shared database as a service, for health and `doctor`.
    pub(crate) fn service(&self, config: &Config) -> Option<Arc<dyn Service>> {
        let db = self.db()?.clone();
        let objects = config.objects.as_ref().and_then(|bucket| s3(bucket, bucket.prefix.clone()).ok());
        Some(Arc::new(SharedDatabase { db, objects, answers: Recent::default() }))
    }
}

/// Connects to the database that several nodes share. Blocks.
pub(crate) fn connect(store: &SharedStore) -> anyhow::Result<Db> {
    Db::connect(&store.settings).with_context(|| {
        format!(
            "cannot use the database of [store]; check that it runs, that this machine can reach it, and the address in {}",
            store.variable
        )
    })
}

/// The object store of a service: its own bucket, else one for all services, else a folder.
pub(crate) fn objects(
    config: &Config,
    own: Option<&Bucket>,
    service: &Domain,
    folder: &Path,
) -> anyhow::Result<Objects> {
    match (own, &config.objects) {
        (Some(own), _) => s3(own, own.prefix.clone()),
        (None, Some(shared)) => {
            let prefix = shared.prefix.as_deref().map(|prefix| prefix.trim_end_matches('/'));
            let prefix = prefix.map_or_else(|| service.to_string(), |prefix| format!("{prefix}/{service}"));
            s3(shared, Some(prefix))
        }
        (None, None) => Ok(Objects::local(folder)?),
    }
}

fn s3(bucket: &Bucket, prefix: Option<String>) -> anyhow::Result<Objects> {
    Ok(Objects::s3(&S3Settings {
        endpoint: bucket.endpoint.clone(),
        bucket: bucket.name.clone(),
        region: bucket.region.clone(),
        access_key_id: bucket.access_key.reveal().to_owned(),
        secret: bucket.secret_key.clone(),
        prefix: prefix.unwrap_or_default(),
    })?)
}

/// The shared database as a service, without tools.
struct SharedDatabase {
    db: Db,
    objects: Option<Objects>,
    answers: Recent<(), bool>,
}

impl Service for SharedDatabase {
    fn name(&self) -> &Domain {
        &STORE
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            let ping =
                async { within(PING_TIMEOUT, self.db.ping()).await.is_ok_and(|answer| answer.is_ok()) };
            let is_well = self.answers.get((), ping).await;
            let waiting_for = (!is_well).then(|| {
                "the database of [store] can't be reached; what is in memory is served, nothing is written".to_owned()
            });
            Health { is_well, waiting_for, ..Health::default() }
        })
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(examine::examine(&self.db, self.objects.as_ref()))
    }
}
