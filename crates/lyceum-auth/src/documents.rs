//! Clients whose id is the address of a document about them (client-id metadata documents).
//!
//! Anybody can name an address, also one that answers slowly. So a document is fetched once for all who wait for it, what
//! was refused is not fetched again for a minute, one visitor has few turns, and who is known goes on while there is none.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use lyceum_net::{Fetch, FetchError, Guard, read_body};
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

/// How long a document may take, and how large it may be.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 5 * 1024;

/// How long a document is taken as it was, and how long a refusal is.
const DOCUMENT_TTL: SignedDuration = SignedDuration::from_hours(1);
const REFUSAL_TTL: SignedDuration = SignedDuration::from_mins(1);

/// How long somebody waits for a document, also where others fetch it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many documents are remembered, and how many are fetched at once: of all hosts, of one, and for one visitor.
const CACHE_CAPACITY: usize = 1000;
const MAX_FETCHES: usize = 32;
const MAX_FETCHES_PER_HOST: usize = 2;
const MAX_FETCHES_PER_VISITOR: usize = 4;

/// Documents about clients.
#[derive(Debug)]
pub(crate) struct Documents {
    guard: Guard,
    known: Cache<String, Arc<CachedClient>>,
    refused: Cache<String, (OauthError, Timestamp)>,
    turns: ConcurrencyLimits,
    /// What is being fetched, and how it ends.
    under_way: Mutex<HashMap<String, watch::Receiver<Option<FetchResult>>>>,
}

/// What came of a document, for all who wait for it.
type FetchResult = Result<Client, OauthError>;

/// A document that this call fetches for all who wait.
struct FetchGuard<'d> {
    documents: &'d Documents,
    id: String,
    done: watch::Sender<Option<FetchResult>>,
    _turn: Permit<'d>,
}

/// What comes of wanting to fetch a document.
enum FetchStart<'d> {
    /// This call does.
    Fetching(FetchGuard<'d>),
    /// Another does, and says here how it ends.
    UnderWay(watch::Receiver<Option<FetchResult>>),
    /// Too many are under way.
    NoTurn,
}

/// Why there is no client.
enum DocumentError {
    /// The document is not there now.
    Away(String),
    /// It is not one that counts.
    Refused(OauthError),
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

/// Whether an id is the address of a document.
pub(crate) fn is_document(id: &str) -> bool {
    id.starts_with("https://") || id.starts_with("http://")
}

impl Documents {
    pub(crate) fn new(guard: Guard) -> Self {
        let (known, refused) = (Cache::new(CACHE_CAPACITY), Cache::new(CACHE_CAPACITY));
        Self { guard, known, refused, turns: ConcurrencyLimits::default(), under_way: Mutex::default() }
    }

    /// The client that a document is about, for a visitor from an address.
    pub(crate) async fn client(&self, id: &str, from: Option<IpAddr>, now: Timestamp) -> FetchResult {
        let known = self.known.get(id);
        if let Some(known) = known.as_ref().filter(|known| known.until > now) {
            return Ok(known.client.clone());
        }
        if let Some((error, until)) = self.refused.get(id)
            && until > now
        {
            return Err(error);
        }
        let url = address(id).ok_or_else(|| {
            let text = "client_id: the address of a client document is https with a path, and nothing else";
            Fault::InvalidClient.because(text)
        })?;
        timeout(WAIT_TIMEOUT, self.fetched(id, &url, from, known, now))
            .await
            .unwrap_or_else(|_| Err(no_turn()))
    }

    /// The document as whoever fetches it finds it: this call, or one that began before.
    async fn fetched(
        &self,
        id: &str,
        url: &Url,
        from: Option<IpAddr>,
        known: Option<Arc<CachedClient>>,
        now: Timestamp,
    ) -> FetchResult {
        loop {
            let start = self.begin(id, url, from);
            match (start, &known) {
                (FetchStart::Fetching(fetching), _) => {
                    let fetched = self.renewed(id, url, known.clone(), now).await;
                    fetching.done.send_replace(Some(fetched.clone()));
                    return fetched;
                }
                // Who is known waits for nobody.
                (FetchStart::UnderWay(_) | FetchStart::NoTurn, Some(known)) => {
                    return Ok(known.client.clone());
                }
                (FetchStart::NoTurn, None) => return Err(no_turn()),
                (FetchStart::UnderWay(mut other), None) => {
                    let ended = other.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
                    // Whoever fetched it may have gone; then the next one does.
                    if let Some(fetched) = ended {
                        return fetched;
                    }
                }
            }
        }
    }

    /// The document as it is now; where it can't be had, as it was.
    async fn renewed(
        &self,
        id: &str,
        url: &Url,
        known: Option<Arc<CachedClient>>,
        now: Timestamp,
    ) -> FetchResult {
        let client = match (self.fetch(id, url).await, known) {
            (Ok(client), _) => client,
            (Err(DocumentError::Refused(error)), _) => {
                let until = now.saturating_add(REFUSAL_TTL).unwrap_or(now);
                self.refused.insert(id.to_owned(), (error.clone(), until));
                return Err(error);
            }
            // Who is known from before is not sent away because a site is down.
            (Err(DocumentError::Away(_)), Some(known)) => return Ok(known.client.clone()),
            (Err(DocumentError::Away(why)), None) => {
                return Err(Fault::TemporarilyUnavailable.because(format!("the client document: {why}")));
            }
        };
        let until = now.saturating_add(DOCUMENT_TTL).unwrap_or(now);
        self.known.insert(id.to_owned(), Arc::new(CachedClient { client: client.clone(), until }));
        Ok(client)
    }

    /// Begins to fetch a document, unless somebody does already, or there is no turn.
    fn begin(&self, id: &str, url: &Url, from: Option<IpAddr>) -> FetchStart<'_> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = under_way.get(id) {
            return FetchStart::UnderWay(other.clone());
        }
        let host = LimitKey::Host(url.host_str().unwrap_or_default().to_owned());
        let visitor = from.map(|from| (LimitKey::Address(from), MAX_FETCHES_PER_VISITOR));
        let shares = [(host, MAX_FETCHES_PER_HOST)].into_iter().chain(visitor);
        let Some(turn) = self.turns.take(MAX_FETCHES, shares) else { return FetchStart::NoTurn };
        let (done, ended) = watch::channel(None);
        under_way.insert(id.to_owned(), ended);
        FetchStart::Fetching(FetchGuard { documents: self, id: id.to_owned(), done, _turn: turn })
    }

    async fn fetch(&self, id: &str, url: &Url) -> Result<Client, DocumentError> {
        let refused = |text: String| {
            DocumentError::Refused(Fault::InvalidClient.because(format!("the client document: {text}")))
        };
        let response = self.guard.fetch(url, Fetch::Get, "application/json", FETCH_TIMEOUT).await;
        let response = response.map_err(|error| match error {
            FetchError::Failed(_) => DocumentError::Away(error.to_string()),
            FetchError::NotPublic | FetchError::NotThere(_) => refused(error.to_string()),
        })?;
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != "application/json" && !(kind.starts_with("application/") && kind.ends_with("+json")) {
            return Err(refused("it is not JSON by its Content-Type".to_owned()));
        }
        let body = tokio::time::timeout(FETCH_TIMEOUT, read_body(response, MAX_DOCUMENT_BYTES)).await;
        let body = body
            .map_err(|_| DocumentError::Away("it took too long".to_owned()))?
            .map_err(|error| refused(error.to_string()))?;
        read(id, &body).map_err(DocumentError::Refused)
    }
}

impl Drop for FetchGuard<'_> {
    fn drop(&mut self) {
        let mut under_way = self.documents.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.remove(&self.id);
    }
}

fn no_turn() -> OauthError {
    Fault::TemporarilyUnavailable.because("other client documents are being fetched; try again in a moment")
}

/// Reads a document about the client with that id.
fn read(id: &str, body: &[u8]) -> Result<Client, OauthError> {
    let refused = |text: &str| Fault::InvalidClient.because(format!("the client document: {text}"));
    let document: Document =
        serde_json::from_slice(body).map_err(|_| refused("it is not an object with client_id"))?;
    if document.client_id != id {
        return Err(refused("its client_id is not its address"));
    }
    if document.client_secret.is_some() {
        return Err(refused("it holds a secret"));
    }
    let metadata: ClientMetadata = serde_json::from_slice(body).map_err(|_| refused("it can't be read"))?;
    if metadata.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        return Err(refused("token_endpoint_auth_method: take none"));
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

/// The address, if it is one that a document may have: https, a path, and written in one way only.
fn address(id: &str) -> Option<Url> {
    let url = Url::parse(id).ok()?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    let is_plain = url.query().is_none() && url.fragment().is_none();
    let has_path = url.path().len() > 1 && !id.to_ascii_lowercase().contains("%2e");
    (url.as_str() == id && is_bare && is_plain && has_path && id.len() <= 1024).then_some(url)
}
