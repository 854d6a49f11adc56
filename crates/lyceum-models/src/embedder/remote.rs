//! Shared by all embedding endpoints: batching, limits, retries and validation.
//!
//! A query has a timeout of two seconds and no retry, because search works without it. Background embedding retries.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{EmbedError, Embedder, Identity, Pooling, Purpose, RemoteSettings, checked};
use crate::endpoint::{Endpoint, Limits, sendable};

/// Maximum length of a text, in characters; longer ones are truncated.
const MAX_TEXT_CHARS: usize = 8_000;

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Request timeouts of queries and of background embedding.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
const PASSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// Delays before each retry.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];

/// Longest `Retry-After` that is waited for; beyond it the call fails and the queue retries later.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Text that determines the dimensions.
const PROBE_TEXT: &str = "lyceum";

/// The API of one kind of endpoint. Pure: builds requests and parses responses.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// The response body.
    type Response: DeserializeOwned + Send + 'static;

    /// Path below the base URL.
    fn path(&self) -> String;

    /// Builds the request body.
    fn request(&self, texts: &[String]) -> Value;

    /// Extracts the vectors in the order of the texts, or returns what is wrong.
    fn vectors(&self, response: Self::Response) -> Result<Vec<Vec<f32>>, String>;
}

/// An embedder behind an endpoint.
#[derive(Debug)]
pub struct Remote<D> {
    endpoint: Endpoint,
    dialect: D,
    identity: Identity,
    batch: usize,
}

/// Properties of a model before the first request.
pub(super) struct Model {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) pooling: Pooling,
    pub(super) max_tokens: usize,
    /// Requested dimensions, if configured.
    pub(super) dimensions: Option<usize>,
}

/// Limits of passage requests and of requests at set-up.
pub(super) const PASSAGE_LIMITS: Limits = Limits { time: PASSAGE_TIMEOUT, bytes: MAX_RESPONSE_BYTES };

impl<D: Dialect> Remote<D> {
    /// Connects to the model and embeds a probe text to learn its dimensions.
    pub(super) async fn probe(
        endpoint: Endpoint,
        dialect: D,
        model: Model,
        settings: &RemoteSettings,
    ) -> Result<Self, EmbedError> {
        let identity = Identity {
            kind: model.kind.to_owned(),
            name: model.name,
            sha256: None,
            pooling: model.pooling,
            query_prefix: settings.query_prefix.clone(),
            passage_prefix: settings.passage_prefix.clone(),
            dimensions: 0,
            max_tokens: settings.max_tokens.unwrap_or(model.max_tokens),
        };
        let mut remote = Self { endpoint, dialect, identity, batch: settings.batch.max(1) };
        let vectors = remote.with_retries(&[PROBE_TEXT.to_owned()]).await?;
        let dimensions = vectors.first().map_or(0, Vec::len);
        remote.identity.dimensions = model.dimensions.unwrap_or(dimensions);
        checked(&remote.identity, 1, vectors)?;
        Ok(remote)
    }

    async fn with_retries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        for pause in RETRY_DELAYS {
            match self.send(texts, PASSAGE_TIMEOUT).await {
                Err(error) if error.is_transient() => match retry_after(&error) {
                    Some(delay) if delay > MAX_RETRY_AFTER => return Err(error),
                    delay => tokio::time::sleep(delay.unwrap_or(pause)).await,
                },
                done => return done,
            }
        }
        self.send(texts, PASSAGE_TIMEOUT).await
    }

    async fn send(&self, texts: &[String], time: Duration) -> Result<Vec<Vec<f32>>, EmbedError> {
        let limits = Limits { time, bytes: MAX_RESPONSE_BYTES };
        let response = self.endpoint.post(&self.dialect.path(), &self.dialect.request(texts), limits).await?;
        let malformed = |why: String| EmbedError::Malformed(self.endpoint.redact(&why));
        self.dialect.vectors(response).map_err(malformed)
    }
}

#[async_trait]
impl<D: Dialect> Embedder for Remote<D> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn embed(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let prefix = match purpose {
            Purpose::Query => &self.identity.query_prefix,
            Purpose::Passage => &self.identity.passage_prefix,
        };
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            let inputs: Vec<String> =
                batch.iter().map(|text| format!("{prefix}{}", sendable(text, MAX_TEXT_CHARS))).collect();
            let vectors = match purpose {
                Purpose::Query => self.send(&inputs, QUERY_TIMEOUT).await?,
                Purpose::Passage => self.with_retries(&inputs).await?,
            };
            all.extend(checked(&self.identity, inputs.len(), vectors)?);
        }
        Ok(all)
    }
}

fn retry_after(error: &EmbedError) -> Option<Duration> {
    match error {
        EmbedError::Busy { retry_after, .. } => *retry_after,
        _ => None,
    }
}
