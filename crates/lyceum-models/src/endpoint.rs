//! One way to ask models behind HTTP: JSON goes out, JSON comes back, and whatever else comes is a [`Fault`].
//!
//! Redirects are not followed, every answer has a limit in time and size, and no key shows in what is said.

mod fault;
mod response;
mod workers_ai;

use std::{fmt, time::Duration};

use lyceum_net::{ClientOptions, Secret, client};
use reqwest::{
    Client, RequestBuilder, Url,
    header::{AUTHORIZATION, HeaderValue},
};
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use fault::Fault;
pub(crate) use workers_ai::{Envelope, WORKERS_AI, workers_ai_path};

/// How long a connection may be idle. Whoever searches now and then should not pay for a new one each time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(50);

/// What one request may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// From the first byte sent to the last byte read.
    pub(crate) time: Duration,
    /// How large an answer may be.
    pub(crate) bytes: usize,
}

/// Somebody's HTTP endpoint and the key to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: Client,
    base: Url,
    key: Option<Secret>,
    /// The key as it is sent.
    bearer: Option<HeaderValue>,
}

impl Endpoint {
    /// Gets ready to ask; nothing is sent yet.
    pub(crate) async fn new(url: &str, key: Option<Secret>) -> Result<Self, Fault> {
        let base = parse(url)?;
        let bearer = key.as_ref().map(Secret::bearer).transpose();
        let bearer = bearer.map_err(|error| Fault::Unusable(error.to_string()))?;
        let server = base.clone();
        let options = ClientOptions { idle_timeout: Some(IDLE_TIMEOUT), ..ClientOptions::default() };
        // The certificates that this system trusts are read from the disk.
        let client = tokio::task::spawn_blocking(move || client(&server, options)).await;
        let client = client
            .map_err(|_| Fault::Unusable("the HTTP client could not be set up".to_owned()))?
            .map_err(|error| Fault::Unusable(error.to_string()))?;
        Ok(Self { client, base, key, bearer })
    }

    /// Where this is, without what a query or a key might give away.
    pub(crate) fn place(&self) -> String {
        let mut shown = self.base.clone();
        shown.set_query(None);
        shown.to_string().trim_end_matches('/').to_owned()
    }

    /// Asks with a body.
    pub(crate) async fn post<T>(&self, path: &str, body: &impl Serialize, limits: Limits) -> Result<T, Fault>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.request(self.client.post(self.url(path)).json(body), limits).await
    }

    /// Asks without one.
    pub(crate) async fn get<T>(&self, path: &str, limits: Limits) -> Result<T, Fault>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.request(self.client.get(self.url(path)), limits).await
    }

    /// What was found wrong with an answer, fit for a log.
    pub(crate) fn redact(&self, text: &str) -> String {
        response::redact(text, self.key.as_ref())
    }

    async fn request<T>(&self, request: RequestBuilder, limits: Limits) -> Result<T, Fault>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let request = match &self.bearer {
            Some(bearer) => request.header(AUTHORIZATION, bearer),
            None => request,
        };
        let sent = request.timeout(limits.time).send().await;
        let response = sent.map_err(|error| Fault::of(error, limits.time))?;
        if !response.status().is_success() {
            return Err(response::refusal(response, self.key.as_ref()).await);
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
        write!(f, "Endpoint({})", self.place())
    }
}

/// The text as it is sent: its beginning, and never nothing, which some endpoints refuse together with the whole batch.
pub(crate) fn sendable(text: &str, most: usize) -> &str {
    let cut = text.char_indices().nth(most).and_then(|(end, _)| text.get(..end)).unwrap_or(text);
    if cut.trim().is_empty() { "-" } else { cut }
}

fn parse(text: &str) -> Result<Url, Fault> {
    let unusable = |why: &str| Fault::Unusable(why.to_owned());
    let url = Url::parse(text.trim())
        .map_err(|_| unusable("its address is not a URL; write it like https://example.com/v1"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable("its address must start with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable("its address must not hold a password; name a variable that holds the key"));
    }
    Ok(url)
}

#[cfg(test)]
pub(crate) mod peer;
#[cfg(test)]
mod tests;
