//! What all embedding endpoints have in common: batches, limits, patience, and a look at what comes back.
//!
//! A search waits two seconds and asks once, for it can do without; what is embedded in the background can wait.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{EmbedError, Embedder, Identity, Pooling, Purpose, RemoteSettings, checked};
use crate::endpoint::{Endpoint, Limits, sendable};

/// How many characters of a text are sent.
const MAX_TEXT_CHARS: usize = 8_000;

/// How large an answer may be.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// How long a request may take: a search waits for the first, a background task for the second.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
const PASSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait before each further try.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];

/// A wait that the endpoint asks for is kept up to this; after a longer one somebody else may ask again.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(5);

/// What the length of a vector is found with.
const PROBE_TEXT: &str = "lyceum";

/// How one kind of endpoint is spoken to. Pure: what is sent, and what the answer means.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// The answer as it is on the wire.
    type Response: DeserializeOwned + Send + 'static;

    /// Where to ask, below the address of the endpoint.
    fn path(&self) -> String;

    /// The request for these texts.
    fn request(&self, texts: &[String]) -> Value;

    /// The vectors in the order of the texts, or what is wrong with the answer.
    fn vectors(&self, answer: Self::Response) -> Result<Vec<Vec<f32>>, String>;
}

/// A model behind an endpoint.
#[derive(Debug)]
pub struct Remote<D> {
    endpoint: Endpoint,
    dialect: D,
    identity: Identity,
    batch: usize,
}

/// What is known of a model before it has made a vector.
pub(super) struct Model {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) pooling: Pooling,
    pub(super) max_tokens: usize,
    /// How long vectors must be, if somebody asked for it.
    pub(super) dimensions: Option<usize>,
}

/// The limits of a request for passages, also of what is asked at set-up.
pub(super) const PASSAGE_LIMITS: Limits = Limits { time: PASSAGE_TIMEOUT, bytes: MAX_RESPONSE_BYTES };

impl<D: Dialect> Remote<D> {
    /// Meets the model: one text is embedded, so that the length of its vectors is known.
    pub(super) async fn meet(
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
        let mut met = Self { endpoint, dialect, identity, batch: settings.batch.max(1) };
        let vectors = met.with_patience(&[PROBE_TEXT.to_owned()]).await?;
        let found = vectors.first().map_or(0, Vec::len);
        met.identity.dimensions = model.dimensions.unwrap_or(found);
        checked(&met.identity, 1, vectors)?;
        Ok(met)
    }

    async fn with_patience(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        for pause in RETRY_DELAYS {
            match self.once(texts, PASSAGE_TIMEOUT).await {
                Err(error) if error.is_passing() => match retry_after(&error) {
                    Some(delay) if delay > MAX_RETRY_AFTER => return Err(error),
                    delay => tokio::time::sleep(delay.unwrap_or(pause)).await,
                },
                done => return done,
            }
        }
        self.once(texts, PASSAGE_TIMEOUT).await
    }

    async fn once(&self, texts: &[String], time: Duration) -> Result<Vec<Vec<f32>>, EmbedError> {
        let limits = Limits { time, bytes: MAX_RESPONSE_BYTES };
        let answer = self.endpoint.post(&self.dialect.path(), &self.dialect.request(texts), limits).await?;
        let malformed = |why: String| EmbedError::Malformed(self.endpoint.redact(&why));
        self.dialect.vectors(answer).map_err(malformed)
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
            let sent: Vec<String> =
                batch.iter().map(|text| format!("{prefix}{}", sendable(text, MAX_TEXT_CHARS))).collect();
            let vectors = match purpose {
                Purpose::Query => self.once(&sent, QUERY_TIMEOUT).await?,
                Purpose::Passage => self.with_patience(&sent).await?,
            };
            all.extend(checked(&self.identity, sent.len(), vectors)?);
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
