//! A reranker that is set up in the background, so that nothing waits for its model or its endpoint at the start.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;
use lyceum_net::Secret;

use super::{
    RerankError, Reranker, Settings, cohere::CohereReranker, local::LocalReranker, tei::TeiReranker,
    workers_ai::WorkersAiReranker,
};

/// A reranker that is not there yet.
pub struct Deferred {
    identity: String,
    settings: Settings,
    key: Option<Secret>,
    made: OnceLock<Arc<dyn Reranker>>,
}

impl std::fmt::Debug for Deferred {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Deferred").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Deferred {
    /// One that [`Reranker::prepare`] sets up.
    pub fn new(settings: Settings, key: Option<Secret>) -> Self {
        let identity = serde_json::to_string(&settings).unwrap_or_default();
        Self { identity, settings, key, made: OnceLock::new() }
    }

    fn make(&self) -> BoxFuture<'_, Result<Arc<dyn Reranker>, RerankError>> {
        let key = self.key.clone();
        Box::pin(async move {
            Ok(match &self.settings {
                Settings::None => return Err(RerankError::Model("none is configured".to_owned())),
                Settings::WorkersAi(settings) => {
                    Arc::new(WorkersAiReranker::connect(settings, key).await?) as _
                }
                Settings::Tei(settings) => Arc::new(TeiReranker::connect(settings, key).await?) as _,
                Settings::Cohere(settings) => Arc::new(CohereReranker::connect(settings, key).await?) as _,
                Settings::Local(settings) => {
                    let (folder, budget) = (settings.folder.clone(), settings.budget_ms.time());
                    let threads = std::thread::available_parallelism().map_or(1, Into::into);
                    let load = move || LocalReranker::open(&folder, threads, budget);
                    let died = |_| RerankError::Model("loading it failed; the log says more".to_owned());
                    Arc::new(tokio::task::spawn_blocking(load).await.map_err(died)??) as _
                }
            })
        })
    }
}

#[async_trait]
impl Reranker for Deferred {
    fn identity(&self) -> &str {
        // What its settings are does not say which model they lead to.
        self.made.get().map_or(&self.identity, |made| made.identity())
    }

    async fn prepare(&self) -> Result<(), RerankError> {
        if self.made.get().is_none() {
            let made = self.make().await?;
            // Whoever was first counts; both are the same.
            let _was_first = self.made.set(made);
        }
        Ok(())
    }

    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
        match self.made.get() {
            Some(made) => made.score(query, passages).await,
            None => Err(RerankError::Loading),
        }
    }
}
