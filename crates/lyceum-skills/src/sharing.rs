//! One commit for several nodes: the holder of a lease fetches and publishes it in a shared database, and the other nodes
//! serve that one.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use lyceum_store::{
    Db, DbError, Tx,
    kv::Namespace,
    leases::{self, Holder, Lease},
};

/// The published commit of each skill set.
const PUBLISHED: Namespace = Namespace { name: "skills-published", ttl_seconds: None };

/// A commit that a node has found and the holder of the lease should fetch, by skill set.
const FOUND: Namespace = Namespace { name: "skills-found", ttl_seconds: Some(3600) };

/// How often to look for a published commit.
pub(crate) const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// How often to try to become the holder of the lease.
const LEAD_INTERVAL: Duration = Duration::from_secs(5);

/// How long a node waits until the holder of the lease has published a commit, and how often it looks.
const AGREE_TIMEOUT: Duration = Duration::from_secs(10);
const AGREE_INTERVAL: Duration = Duration::from_millis(200);

/// The database that the nodes share, and the name of the skill set in it.
#[derive(Debug)]
pub(crate) struct Sharing {
    db: Db,
    name: String,
    holder: Holder,
    /// The lease, and when it was last acquired, renewed or asked for.
    lease: Mutex<(Option<Lease>, Option<Instant>)>,
}

/// What a node should do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Fetch: there is another commit.
    Fetch,
    /// Fetch when the settings say so, as the holder of the lease.
    Lead,
    /// Wait for the holder of the lease.
    Follow,
}

impl Sharing {
    pub(crate) fn new((db, name): (Db, String)) -> Result<Self, DbError> {
        Ok(Self { db, name, holder: Holder::random()?, lease: Mutex::default() })
    }

    /// The published commit. Blocks.
    pub(crate) fn published(&self) -> Result<Option<String>, DbError> {
        self.db.read_blocking(|tx| text(PUBLISHED, tx, &self.name))
    }

    /// What to do, given the commit that is served.
    pub(crate) async fn step(&self, served: Option<&str>) -> Result<Step, DbError> {
        let is_leader = self.lead().await?.is_some();
        let name = self.name.clone();
        let read = move |tx: &Tx<'_>| Ok((text(PUBLISHED, tx, &name)?, text(FOUND, tx, &name)?));
        let (published, found) = self.db.read(read).await?;
        let is_behind = published.is_some() && published.as_deref() != served;
        let is_asked = is_leader && found.is_some();
        Ok(match is_leader {
            _ if is_behind || is_asked => Step::Fetch,
            true => Step::Lead,
            false => Step::Follow,
        })
    }

    /// Whether a fetched commit may be served: the holder of the lease publishes it, and the others wait for a while until it
    /// has.
    pub(crate) async fn agree(&self, commit: &str) -> Result<bool, DbError> {
        let until = Instant::now() + AGREE_TIMEOUT;
        while !self.publish(commit).await? {
            if Instant::now() > until {
                return Ok(false);
            }
            tokio::time::sleep(AGREE_INTERVAL).await;
        }
        Ok(true)
    }

    /// Publishes a commit as the holder of the lease; another node asks the holder to do it. Returns whether it is published.
    async fn publish(&self, commit: &str) -> Result<bool, DbError> {
        let lease = self.lead().await?;
        let (name, commit) = (self.name.clone(), commit.to_owned());
        let agreed = self.db.write(self.about(), move |tx| {
            let now = tx.now()?;
            if let Some(lease) = &lease {
                lease.renew(tx)?;
                PUBLISHED.put(tx, &name, commit.as_bytes(), now)?;
                FOUND.take(tx, &name, now)?;
                return Ok(true);
            }
            let is_published = text(PUBLISHED, tx, &name)?.as_deref() == Some(&commit);
            if !is_published && text(FOUND, tx, &name)?.is_none() {
                FOUND.put(tx, &name, commit.as_bytes(), now)?;
            }
            Ok(is_published)
        });
        let agreed = agreed.await;
        if let Err(DbError::LeaseLost) = agreed {
            *self.lease() = (None, None);
        }
        agreed
    }

    /// Gives the lease up, so that another node can take over at once.
    pub(crate) async fn release(&self) {
        let held = self.lease().0.take();
        if let Some(lease) = held
            && let Err(error) = self.db.write(self.about(), move |tx| lease.release(tx)).await
        {
            tracing::debug!(error.cause = %error, "could not give up the lease of the skills; it expires");
        }
    }

    /// The lease, renewed in time; `None` if another node has it.
    async fn lead(&self) -> Result<Option<Lease>, DbError> {
        let (held, at) = self.lease().clone();
        let interval = if held.is_some() { leases::TTL / 3 } else { LEAD_INTERVAL };
        if at.is_some_and(|at| at.elapsed() < interval) {
            return Ok(held);
        }
        let (about, holder, takeover) = (self.about(), self.holder.clone(), self.db.takeover());
        let acquire = move |tx: &Tx<'_>| leases::acquire(tx, &about, &holder, takeover);
        let acquired = self.db.write(self.about(), acquire).await?;
        *self.lease() = (acquired.clone(), Some(Instant::now()));
        Ok(acquired)
    }

    fn about(&self) -> String {
        format!("skills:{}", self.name)
    }

    fn lease(&self) -> MutexGuard<'_, (Option<Lease>, Option<Instant>)> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(namespace: Namespace, tx: &Tx<'_>, key: &str) -> Result<Option<String>, DbError> {
    let value = namespace.get(tx, key, Timestamp::now())?;
    Ok(value.and_then(|value| String::from_utf8(value).ok()))
}
