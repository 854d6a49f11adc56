//! The index of a one-off command.

use std::{sync::Arc, time::Duration};

use lyceum_knowledge::Knowledge;
use lyceum_model::Domain;
use lyceum_search::{Options, Search};
use lyceum_skills::Audience;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::skills::search_skill_set;
use crate::{
    config::{Config, KnowledgeService, SkillsService},
    skills,
    storage::Storage,
};

/// How long background tasks may take to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the reranker may take to load.
const RERANKER_TIMEOUT: Duration = Duration::from_secs(120);

/// An open index with its background tasks.
pub(crate) struct Index {
    pub(crate) search: Arc<Search>,
    stop: CancellationToken,
    work: JoinSet<()>,
}

impl Index {
    /// Opens the index and starts to compute missing vectors.
    pub(crate) fn open(options: Options) -> Self {
        let search = Arc::new(Search::new(options));
        let stop = CancellationToken::new();
        let mut work = JoinSet::new();
        work.spawn(search.clone().keep_open(stop.clone()));
        work.spawn(search.clone().keep_embedded(stop.clone()));
        work.spawn(search.clone().keep_ranked(stop.clone()));
        Self { search, stop, work }
    }

    /// Updates the index with the current content. If a server uses the index, that server does it.
    pub(crate) async fn feed(
        &self,
        config: &Config,
        storage: &Storage,
        name: &Domain,
        knowledge: &Knowledge,
    ) -> anyhow::Result<()> {
        knowledge.ingest_snapshot(&self.search, &knowledge.snapshot()).await?;
        let first = config.services_of::<KnowledgeService>().next();
        if first.is_none_or(|(first, _)| first.name != *name) {
            return Ok(());
        }
        let skills = config.services_of::<SkillsService>();
        for (one, declared) in skills.filter(|(one, _)| skills::is_first_of_source(config, one)) {
            let open = || skills::open(config, storage, &one.name, declared, Audience::Everyone);
            let skills = tokio::task::block_in_place(open)?;
            skills.refresh_in_turn().await;
            let skill_set = skills.state().borrow().skill_set.clone();
            if let Some(skill_set) = skill_set {
                search_skill_set(&self.search, skills.source_name().as_str(), skill_set).await?;
            }
        }
        Ok(())
    }

    /// Waits for the reranker, if there is one, so that results are not degraded.
    pub(crate) async fn until_ranked(&self) {
        // If it is not ready by then, each response says so.
        let _late = tokio::time::timeout(RERANKER_TIMEOUT, self.search.prepare_reranker()).await;
    }

    /// Stops the background tasks.
    pub(crate) async fn close(mut self) {
        self.stop.cancel();
        let ended = async { while self.work.join_next().await.is_some() {} };
        if tokio::time::timeout(CLOSE_TIMEOUT, ended).await.is_err() {
            self.work.abort_all();
        }
    }
}
