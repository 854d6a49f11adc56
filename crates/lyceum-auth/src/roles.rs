//! Which tier somebody has at this moment, remembered for five minutes.
//!
//! Where it can't be found out nothing is assumed: neither the tier of a moment ago nor the lowest.

use std::{collections::BTreeMap, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use lyceum_model::Tier;
use quick_cache::sync::Cache;

use crate::{
    chain::{Chain, ChainError},
    hats::Hats,
    subject::Subject,
};

/// How long a tier is taken as it was.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(5);

/// How many people's tiers are remembered.
const REMEMBERED: usize = 10_000;

/// Where tiers come from.
#[derive(Debug)]
pub(crate) struct Roles {
    hats: Option<(Arc<Chain>, Hats)>,
    keys: BTreeMap<String, Tier>,
    known: Cache<Subject, (Tier, Timestamp)>,
}

impl Roles {
    pub(crate) fn new(hats: Option<(Arc<Chain>, Hats)>, keys: BTreeMap<String, Tier>) -> Self {
        Self { hats, keys, known: Cache::new(REMEMBERED) }
    }

    /// The tier of somebody, as it was at most five minutes ago.
    pub(crate) async fn tier(&self, subject: &Subject, now: Timestamp) -> Result<Tier, ChainError> {
        match self.known.get(subject) {
            Some((tier, read)) if now.duration_since(read) < GOOD_FOR => return Ok(tier),
            Some(_) => {
                self.known.remove(subject);
            }
            None => {}
        }
        // Whoever asks for the same at the same time waits for the one answer.
        let read = self.known.get_or_insert_async(subject, async { Ok((self.read(subject).await?, now)) }).await?;
        Ok(read.0)
    }

    /// The tier of somebody, read now.
    pub(crate) async fn tier_now(&self, subject: &Subject, now: Timestamp) -> Result<Tier, ChainError> {
        let tier = self.read(subject).await?;
        self.known.insert(subject.clone(), (tier, now));
        Ok(tier)
    }

    async fn read(&self, subject: &Subject) -> Result<Tier, ChainError> {
        match (subject, &self.hats) {
            (Subject::Account(address), Some((chain, hats))) => hats.tier(chain, *address).await,
            (Subject::Key(name), _) => Ok(self.keys.get(name).copied().unwrap_or(Tier::Public)),
            (Subject::Account(_), None) | (Subject::GitHub(_), _) => Ok(Tier::Public),
        }
    }
}
