//! A reranker that is loaded in the background, so that start-up does not wait for it.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;
use lyceum_net::Secret;

use super::{
    RerankError, Reranker, Settings, cohere::CohereReranker, local::LocalReranker, tei::TeiReranker,
    workers_ai::WorkersAiReranker,
};

/// A reranker that is loaded later.
pub struct Deferred {
    identity: String,
    settings: Settings,
    key: Option<Secret>,
    loaded: OnceLock<Arc<dyn Reranker>>,
}

impl std::fmt::Debug for Deferred {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Deferred").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Deferred {
    /// Creates a reranker that [`Reranker::prepare`] loads.
    pub fn new(settings: Settings, key: Option<Secret>) -> Self {
        let identity = serde_json::to_string(&settings).unwrap_or_default();
        Self { identity, settings, key, loaded: OnceLock::new() }
    }

    fn load(&self) -> BoxFuture<'_, Result<Arc<dyn Reranker>, RerankError>> {
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
                    let open = move || LocalReranker::open(&folder, threads, budget);
                    let panicked = |_| RerankError::Model("loading failed; see the log".to_owned());
                    Arc::new(tokio::task::spawn_blocking(open).await.map_err(panicked)??) as _
                }
            })
        })
    }
}

#[async_trait]
impl Reranker for Deferred {
    fn identity(&self) -> &str {
        // The settings alone do not identify the model.
        self.loaded.get().map_or(&self.identity, |loaded| loaded.identity())
    }

    async fn prepare(&self) -> Result<(), RerankError> {
        if self.loaded.get().is_none() {
            let loaded = self.load().await?;
            // Concurrent calls load the same model; the first one wins.
            let _was_first = self.loaded.set(loaded);
        }
        Ok(())
    }

    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
        match self.loaded.get() {
            Some(loaded) => loaded.score(query, passages).await,
            None => Err(RerankError::Loading),
        }
    }
}
