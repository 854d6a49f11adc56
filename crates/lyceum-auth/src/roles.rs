//! Current tiers of subjects, cached for a few minutes.
//!
//! If a tier can't be read, nothing is assumed: neither an expired tier nor the lowest.

use std::{collections::HashMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use lyceum_model::Tier;
use quick_cache::sync::Cache;

use crate::{
    chain::{Chain, ChainError},
    github::GitHub,
    hats::Hats,
    subject::Subject,
};

/// Default TTL of cached tiers.
pub const DEFAULT_ROLES_TTL: SignedDuration = SignedDuration::from_mins(5);

/// Maximum number of cached tiers.
const CACHE_CAPACITY: usize = 10_000;

/// Roles can't be read. The message is for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RolesUnavailable(String);

impl RolesUnavailable {
    pub(crate) fn new(why: String) -> Self {
        Self(why)
    }
}

impl From<ChainError> for RolesUnavailable {
    fn from(error: ChainError) -> Self {
        Self(error.to_string())
    }
}

/// Reads and caches tiers.
#[derive(Debug)]
pub(crate) struct Roles {
    hats: Option<(Arc<Chain>, Hats)>,
    github: Option<GitHub>,
    keys: HashMap<Subject, Tier>,
    ttl: SignedDuration,
    cache: Cache<Subject, (Tier, Timestamp)>,
}

impl Roles {
    pub(crate) fn new(
        hats: Option<(Arc<Chain>, Hats)>,
        github: Option<GitHub>,
        keys: HashMap<Subject, Tier>,
        ttl: SignedDuration,
    ) -> Self {
        Self { hats, github, keys, ttl, cache: Cache::new(CACHE_CAPACITY) }
    }

    /// Chain of the Hats contract.
    pub(crate) fn chain(&self) -> Option<u64> {
        self.hats.as_ref().map(|(chain, _)| chain.id())
    }

    /// Whether a subject is the holder of a key that was removed from the configuration.
    pub(crate) fn is_removed_key(&self, subject: &Subject) -> bool {
        matches!(subject, Subject::Key { .. }) && !self.keys.contains_key(subject)
    }

    /// Returns the tier of a subject, from the cache if it is fresh.
    pub(crate) async fn tier(&self, subject: &Subject, now: Timestamp) -> Result<Tier, RolesUnavailable> {
        match self.cache.get(subject) {
            Some((tier, read)) if now.duration_since(read) < self.ttl => return Ok(tier),
            Some(_) => {
                self.cache.remove(subject);
            }
            None => {}
        }
        // Single flight: concurrent callers wait for the same read.
        let reading = async { self.read(subject).await.map(|tier| (tier, now)) };
        Ok(self.cache.get_or_insert_async(subject, reading).await?.0)
    }

    /// Reads the tier of a subject, bypassing the cache.
    pub(crate) async fn tier_now(&self, subject: &Subject, now: Timestamp) -> Result<Tier, RolesUnavailable> {
        let tier = self.read(subject).await?;
        self.cache.insert(subject.clone(), (tier, now));
        Ok(tier)
    }

    async fn read(&self, subject: &Subject) -> Result<Tier, RolesUnavailable> {
        match subject {
            Subject::Account(address) => match &self.hats {
                Some((chain, hats)) => Ok(hats.tier(chain, *address).await?),
                None => Ok(Tier::Public),
            },
            Subject::GitHub(id) => match &self.github {
                Some(github) => github.tier(*id).await,
                None => Ok(Tier::Public),
            },
            Subject::Key { .. } => Ok(self.keys.get(subject).copied().unwrap_or(Tier::Public)),
        }
    }
}
