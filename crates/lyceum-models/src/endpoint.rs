//! HTTP client for model APIs: JSON in, JSON out, everything else is an [`EndpointError`].
//!
//! Redirects are not followed, every response has a timeout and a size limit, and errors never contain the key.

mod error;
mod response;
mod workers_ai;

use std::{fmt, time::Duration};

use lyceum_net::{ClientOptions, Secret, client};
use reqwest::{
    Client, RequestBuilder, Url,
    header::{AUTHORIZATION, HeaderValue},
};
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use error::EndpointError;
pub(crate) use workers_ai::{Envelope, WORKERS_AI, workers_ai_path};

/// Idle timeout of a connection: long enough that occasional searches reuse it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(50);

/// Limits of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Timeout from the first byte sent to the last byte read.
    pub(crate) time: Duration,
    /// Maximum size of the response.
    pub(crate) bytes: usize,
}

/// An HTTP endpoint and its API key.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: Client,
    base: Url,
    key: Option<Secret>,
    /// The `Authorization` header.
    bearer: Option<HeaderValue>,
}

impl Endpoint {
    /// Creates a client; sends nothing.
    pub(crate) async fn new(url: &str, key: Option<Secret>) -> Result<Self, EndpointError> {
        let base = parse(url)?;
        let bearer = key.as_ref().map(Secret::bearer).transpose();
        let bearer = bearer.map_err(|error| EndpointError::Unusable(error.to_string()))?;
        let server = base.clone();
        let options = ClientOptions { idle_timeout: Some(IDLE_TIMEOUT), ..ClientOptions::default() };
        // Reads the system's trusted certificates from disk.
        let client = tokio::task::spawn_blocking(move || client(&server, options)).await;
        let client = client
            .map_err(|_| EndpointError::Unusable("the HTTP client could not be set up".to_owned()))?
            .map_err(|error| EndpointError::Unusable(error.to_string()))?;
        Ok(Self { client, base, key, bearer })
    }

    /// Base URL without its query, which may hold a secret.
    pub(crate) fn redacted_url(&self) -> String {
        let mut shown = self.base.clone();
        shown.set_query(None);
        shown.to_string().trim_end_matches('/').to_owned()
    }

    /// Sends a POST request.
    pub(crate) async fn post<T>(
        &self,
        path: &str,
        body: &impl Serialize,
        limits: Limits,
    ) -> Result<T, EndpointError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.request(self.client.post(self.url(path)).json(body), limits).await
    }

    /// Sends a GET request.
    pub(crate) async fn get<T>(&self, path: &str, limits: Limits) -> Result<T, EndpointError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.request(self.client.get(self.url(path)), limits).await
    }

    /// Removes the key from an error message and shortens it.
    pub(crate) fn redact(&self, text: &str) -> String {
        response::redact(text, self.key.as_ref())
    }

    async fn request<T>(&self, request: RequestBuilder, limits: Limits) -> Result<T, EndpointError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let request = match &self.bearer {
            Some(bearer) => request.header(AUTHORIZATION, bearer),
            None => request,
        };
        let sent = request.timeout(limits.time).send().await;
        let response = sent.map_err(|error| EndpointError::of(error, limits.time))?;
        if !response.status().is_success() {
            return Err(response::error_response(response, self.key.as_ref()).await);
        }
        response::read(response, limits, self.key.as_ref()).await
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.redacted_url())
    }
}

/// Truncates a text, and replaces an empty one: some endpoints reject the whole batch because of it.
pub(crate) fn sendable(text: &str, max_chars: usize) -> &str {
    let cut = text.char_indices().nth(max_chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text);
    if cut.trim().is_empty() { "-" } else { cut }
}

fn parse(text: &str) -> Result<Url, EndpointError> {
    let unusable = |why: &str| EndpointError::Unusable(why.to_owned());
    let url = Url::parse(text.trim())
        .map_err(|_| unusable("`url` is not a URL; write it like https://example.com/v1"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable("`url` must start with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable(
            "`url` must not contain a password; set `key_env` to the variable that holds the key",
        ));
    }
    Ok(url)
}

#[cfg(test)]
pub(crate) mod peer;
#[cfg(test)]
mod tests;
