//! Which tier somebody has at this moment, remembered for a few minutes.
//!
//! Where it can't be found out nothing is assumed: neither the tier of a moment ago nor the lowest.

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

/// How long a tier is taken as it was, where the operator says nothing else.
pub const DEFAULT_ROLES_TTL: SignedDuration = SignedDuration::from_mins(5);

/// How many people's tiers are remembered.
const CACHE_CAPACITY: usize = 10_000;

/// Somebody's roles can't be read now. The text is for the operator.
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

/// Where tiers come from.
#[derive(Debug)]
pub(crate) struct Roles {
    hats: Option<(Arc<Chain>, Hats)>,
    github: Option<GitHub>,
    keys: HashMap<Subject, Tier>,
    good_for: SignedDuration,
    known: Cache<Subject, (Tier, Timestamp)>,
}

impl Roles {
    pub(crate) fn new(
        hats: Option<(Arc<Chain>, Hats)>,
        github: Option<GitHub>,
        keys: HashMap<Subject, Tier>,
        good_for: SignedDuration,
    ) -> Self {
        Self { hats, github, keys, good_for, known: Cache::new(CACHE_CAPACITY) }
    }

    /// The chain that hats are on.
    pub(crate) fn chain(&self) -> Option<u64> {
        self.hats.as_ref().map(|(chain, _)| chain.id())
    }

    /// Whether somebody was known by a key that was taken back.
    pub(crate) fn is_gone(&self, subject: &Subject) -> bool {
        matches!(subject, Subject::Key { .. }) && !self.keys.contains_key(subject)
    }

    /// The tier of somebody, as it was at most so long ago.
    pub(crate) async fn tier(&self, subject: &Subject, now: Timestamp) -> Result<Tier, RolesUnavailable> {
        match self.known.get(subject) {
            Some((tier, read)) if now.duration_since(read) < self.good_for => return Ok(tier),
            Some(_) => {
                self.known.remove(subject);
            }
            None => {}
        }
        // Whoever asks for the same at the same time waits for the one answer.
        let reading = async { self.read(subject).await.map(|tier| (tier, now)) };
        Ok(self.known.get_or_insert_async(subject, reading).await?.0)
    }

    /// The tier of somebody, read now.
    pub(crate) async fn tier_now(&self, subject: &Subject, now: Timestamp) -> Result<Tier, RolesUnavailable> {
        let tier = self.read(subject).await?;
        self.known.insert(subject.clone(), (tier, now));
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
