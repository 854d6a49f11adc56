//! Clients identified by the URL of their metadata document (OAuth Client ID Metadata Documents).
//!
//! Anyone can name a URL, including one that responds slowly. So concurrent requests for a document share one
//! fetch (single flight), rejections are cached for a minute, each visitor has few concurrent fetches, and a
//! cached client stays usable when no fetch is possible.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use lyceum_net::{BodyError, Fetch, FetchError, Guard, read_body};
use quick_cache::sync::Cache;
use reqwest::{Url, header::CONTENT_TYPE};
use serde::Deserialize;
use tokio::{sync::watch, time::timeout};

use crate::{
    concurrency::{ConcurrencyLimits, LimitKey, Permit},
    oauth::{
        Fault, OauthError,
        client::{Client, ClientMetadata, Proof, check_capabilities, redirects_of, shown_name},
    },
};

/// Timeout and size limit of a fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 5 * 1024;

/// TTL of a document, and of a rejection.
const DOCUMENT_TTL: SignedDuration = SignedDuration::from_hours(1);
const REFUSAL_TTL: SignedDuration = SignedDuration::from_mins(1);

/// How long a caller waits for a document, also if another caller fetches it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Cache capacity, and maximum concurrent fetches: in total, per host and per visitor.
const CACHE_CAPACITY: usize = 1000;
const MAX_FETCHES: usize = 32;
const MAX_FETCHES_PER_HOST: usize = 2;
const MAX_FETCHES_PER_VISITOR: usize = 4;

/// Fetches and caches client metadata documents.
#[derive(Debug)]
pub(crate) struct Documents {
    guard: Guard,
    cache: Cache<String, Arc<CachedClient>>,
    rejected: Cache<String, (OauthError, Timestamp)>,
    limits: ConcurrencyLimits,
    /// Fetches in flight, with their results.
    in_flight: Mutex<HashMap<String, watch::Receiver<Option<FetchResult>>>>,
}

/// Result of a fetch, shared by all waiting callers.
type FetchResult = Result<Client, OauthError>;

/// A fetch made by this caller for all waiting ones.
struct FetchGuard<'d> {
    documents: &'d Documents,
    id: String,
    done: watch::Sender<Option<FetchResult>>,
    _permit: Permit<'d>,
}

/// Outcome of trying to start a fetch.
enum FetchStart<'d> {
    /// This caller fetches.
    Fetching(FetchGuard<'d>),
    /// Another caller is fetching; the receiver gets the result.
    InFlight(watch::Receiver<Option<FetchResult>>),
    /// The concurrency limit is reached.
    LimitReached,
}

/// Why a document yields no client.
enum DocumentError {
    /// Temporarily unavailable.
    Unavailable(String),
    /// Invalid, or not a document.
    Rejected(OauthError),
}

#[derive(Debug)]
struct CachedClient {
    client: Client,
    until: Timestamp,
}

#[derive(Deserialize)]
struct Document {
    client_id: String,
    client_secret: Option<serde_json::Value>,
}

/// Whether a client id is a URL of a metadata document.
pub(crate) fn is_document_url(id: &str) -> bool {
    id.starts_with("https://") || id.starts_with("http://")
}

impl Documents {
    pub(crate) fn new(guard: Guard) -> Self {
        let (cache, rejected) = (Cache::new(CACHE_CAPACITY), Cache::new(CACHE_CAPACITY));
        Self { guard, cache, rejected, limits: ConcurrencyLimits::default(), in_flight: Mutex::default() }
    }

    /// Returns the client of a metadata document, for a visitor's address.
    pub(crate) async fn client(&self, id: &str, from: Option<IpAddr>, now: Timestamp) -> FetchResult {
        let cached = self.cache.get(id);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.until > now) {
            return Ok(cached.client.clone());
        }
        if let Some((error, until)) = self.rejected.get(id)
            && until > now
        {
            return Err(error);
        }
        let url = parse_url(id).ok_or_else(|| {
            let text = "client_id: the URL of a client metadata document must be https with a path, without query or fragment";
            Fault::InvalidClient.because(text)
        })?;
        timeout(WAIT_TIMEOUT, self.fetch_once(id, &url, from, cached, now))
            .await
            .unwrap_or_else(|_| Err(too_many_fetches()))
    }

    /// Fetches a document, or waits for a fetch already in flight.
    async fn fetch_once(
        &self,
        id: &str,
        url: &Url,
        from: Option<IpAddr>,
        cached: Option<Arc<CachedClient>>,
        now: Timestamp,
    ) -> FetchResult {
        loop {
            let start = self.start_fetch(id, url, from);
            match (start, &cached) {
                (FetchStart::Fetching(fetching), _) => {
                    let fetched = self.refresh(id, url, cached.clone(), now).await;
                    fetching.done.send_replace(Some(fetched.clone()));
                    return fetched;
                }
                // A cached client doesn't wait.
                (FetchStart::InFlight(_) | FetchStart::LimitReached, Some(cached)) => {
                    return Ok(cached.client.clone());
                }
                (FetchStart::LimitReached, None) => return Err(too_many_fetches()),
                (FetchStart::InFlight(mut other), None) => {
                    let ended = other.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
                    // The fetching caller may be gone; then try again.
                    if let Some(fetched) = ended {
                        return fetched;
                    }
                }
            }
        }
    }

    /// Fetches a document and updates the cache; falls back to an expired entry if it is unavailable.
    async fn refresh(
        &self,
        id: &str,
        url: &Url,
        cached: Option<Arc<CachedClient>>,
        now: Timestamp,
    ) -> FetchResult {
        let client = match (self.fetch(id, url).await, cached) {
            (Ok(client), _) => client,
            (Err(DocumentError::Rejected(error)), _) => {
                let until = now.saturating_add(REFUSAL_TTL).unwrap_or(now);
                self.rejected.insert(id.to_owned(), (error.clone(), until));
                return Err(error);
            }
            // A client known before isn't rejected because its site is down.
            (Err(DocumentError::Unavailable(_)), Some(cached)) => return Ok(cached.client.clone()),
            (Err(DocumentError::Unavailable(why)), None) => {
                return Err(Fault::TemporarilyUnavailable.because(format!("client metadata document: {why}")));
            }
        };
        let until = now.saturating_add(DOCUMENT_TTL).unwrap_or(now);
        self.cache.insert(id.to_owned(), Arc::new(CachedClient { client: client.clone(), until }));
        Ok(client)
    }

    /// Starts a fetch, unless one is in flight or a limit is reached.
    fn start_fetch(&self, id: &str, url: &Url, from: Option<IpAddr>) -> FetchStart<'_> {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = in_flight.get(id) {
            return FetchStart::InFlight(other.clone());
        }
        let host = LimitKey::Host(url.host_str().unwrap_or_default().to_owned());
        let visitor = from.map(|from| (LimitKey::Address(from), MAX_FETCHES_PER_VISITOR));
        let key_limits = [(host, MAX_FETCHES_PER_HOST)].into_iter().chain(visitor);
        let Some(permit) = self.limits.try_acquire(MAX_FETCHES, key_limits) else {
            return FetchStart::LimitReached;
        };
        let (done, ended) = watch::channel(None);
        in_flight.insert(id.to_owned(), ended);
        FetchStart::Fetching(FetchGuard { documents: self, id: id.to_owned(), done, _permit: permit })
    }

    async fn fetch(&self, id: &str, url: &Url) -> Result<Client, DocumentError> {
        let refused = |text: String| {
            DocumentError::Rejected(Fault::InvalidClient.because(format!("client metadata document: {text}")))
        };
        let response = self.guard.fetch(url, Fetch::Get, "application/json", FETCH_TIMEOUT).await;
        let response = response.map_err(|error| match error {
            FetchError::Failed(_) => DocumentError::Unavailable(error.to_string()),
            FetchError::NotPublic | FetchError::Rejected(_) => refused(error.to_string()),
        })?;
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != "application/json" && !(kind.starts_with("application/") && kind.ends_with("+json")) {
            return Err(refused("its Content-Type is not JSON".to_owned()));
        }
        let body = tokio::time::timeout(FETCH_TIMEOUT, read_body(response, MAX_DOCUMENT_BYTES)).await;
        let body = body.map_err(|_| DocumentError::Unavailable("timed out".to_owned()))?.map_err(
            |error| match error {
                BodyError::TooLarge { .. } => refused(error.to_string()),
                BodyError::Broken(_) => DocumentError::Unavailable(error.to_string()),
            },
        )?;
        read(id, &body).map_err(DocumentError::Rejected)
    }
}

impl Drop for FetchGuard<'_> {
    fn drop(&mut self) {
        let mut in_flight = self.documents.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        in_flight.remove(&self.id);
    }
}

fn too_many_fetches() -> OauthError {
    Fault::TemporarilyUnavailable
        .because("too many client metadata documents are being fetched; retry in a moment")
}

/// Parses the metadata document of a client.
fn read(id: &str, body: &[u8]) -> Result<Client, OauthError> {
    let refused = |text: &str| Fault::InvalidClient.because(format!("client metadata document: {text}"));
    let document: Document =
        serde_json::from_slice(body).map_err(|_| refused("it is not a JSON object with client_id"))?;
    if document.client_id != id {
        return Err(refused("its client_id differs from its URL"));
    }
    if document.client_secret.is_some() {
        return Err(refused("it must not contain client_secret"));
    }
    let metadata: ClientMetadata =
        serde_json::from_slice(body).map_err(|_| refused("it is not valid client metadata"))?;
    if metadata.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        return Err(refused("token_endpoint_auth_method must be none"));
    }
    check_capabilities(&metadata).map_err(|error| refused(&error.error_description))?;
    let redirects = redirects_of(&metadata).map_err(|error| refused(&error.error_description))?;
    Ok(Client {
        id: id.to_owned(),
        name: metadata.client_name.as_deref().and_then(shown_name),
        redirects,
        proof: Proof::None,
    })
}

/// Parses the URL of a document: a path, no credentials, query or fragment, and in normalized form only. The SSRF
/// guard requires https.
fn parse_url(id: &str) -> Option<Url> {
    let url = Url::parse(id).ok()?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    let is_plain = url.query().is_none() && url.fragment().is_none();
    let has_path = url.path().len() > 1 && !id.to_ascii_lowercase().contains("%2e");
    (url.as_str() == id && is_bare && is_plain && has_path && id.len() <= 1024).then_some(url)
}
