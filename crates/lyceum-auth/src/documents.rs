//! Clients whose id is the address of a document about them (client-id metadata documents).

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use quick_cache::sync::Cache;
use reqwest::{Url, header::CONTENT_TYPE};
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::{
    guard::{Ask, Guard},
    http,
    oauth::{
        Fault, OauthError,
        client::{Client, ClientMetadata, Origin, Proof, check_capabilities, redirects_of, shown_name},
    },
};

/// How long a document may take, and how large it may be.
const LONGEST: Duration = Duration::from_secs(10);
const LARGEST: usize = 5 * 1024;

/// How long a document is taken as it was.
const GOOD_FOR: SignedDuration = SignedDuration::from_hours(1);

/// How many documents are remembered, and how many are fetched at once.
const REMEMBERED: usize = 1000;
const AT_ONCE: usize = 4;

/// Documents about clients.
#[derive(Debug)]
pub(crate) struct Documents {
    guard: Guard,
    known: Cache<String, Arc<Known>>,
    turns: Semaphore,
}

#[derive(Debug)]
struct Known {
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
        Self { guard, known: Cache::new(REMEMBERED), turns: Semaphore::new(AT_ONCE) }
    }

    /// The client that a document is about.
    pub(crate) async fn client(&self, id: &str, now: Timestamp) -> Result<Client, OauthError> {
        if let Some(known) = self.known.get(id).filter(|known| known.until > now) {
            return Ok(known.client.clone());
        }
        let url = address(id).ok_or_else(|| {
            let text = "client_id: the address of a client document is https with a path, and nothing else";
            Fault::InvalidClient.because(text)
        })?;
        let _turn = self.turns.try_acquire().map_err(|_| {
            Fault::TemporarilyUnavailable.because("other client documents are being fetched; try again")
        })?;
        let client = self.fetch(id, &url).await?;
        let until = now.saturating_add(GOOD_FOR).unwrap_or(now);
        self.known.insert(id.to_owned(), Arc::new(Known { client: client.clone(), until }));
        Ok(client)
    }

    async fn fetch(&self, id: &str, url: &Url) -> Result<Client, OauthError> {
        let refused = |text: String| Fault::InvalidClient.because(format!("the client document: {text}"));
        let response = self.guard.ask(url, Ask::Get, "application/json", LONGEST).await;
        let response = response.map_err(|error| refused(error.to_string()))?;
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != "application/json" && !(kind.starts_with("application/") && kind.ends_with("+json")) {
            return Err(refused("it is not JSON by its Content-Type".to_owned()));
        }
        let body = tokio::time::timeout(LONGEST, http::read(response, LARGEST)).await;
        let body = body.map_err(|_| refused("it took too long".to_owned()))?.map_err(refused)?;
        read(id, &body)
    }
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
    let said: ClientMetadata = serde_json::from_slice(body).map_err(|_| refused("it can't be read"))?;
    if said.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        return Err(refused("token_endpoint_auth_method: take none"));
    }
    check_capabilities(&said).map_err(|error| refused(&error.error_description))?;
    let redirects = redirects_of(&said).map_err(|error| refused(&error.error_description))?;
    Ok(Client {
        id: id.to_owned(),
        name: said.client_name.as_deref().and_then(shown_name),
        redirects,
        proof: Proof::None,
        origin: Origin::Document,
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
