//! Clients whose id is the address of a document about them (client-id metadata documents).

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use quick_cache::sync::Cache;
use reqwest::{Url, header::CONTENT_TYPE};
use serde::Deserialize;

use crate::{
    guard::{Ask, Guard, Unfetched},
    http,
    oauth::{
        Fault, OauthError,
        client::{Client, ClientMetadata, Proof, check_capabilities, redirects_of, shown_name},
    },
};

/// How long a document may take, and how large it may be.
const LONGEST: Duration = Duration::from_secs(10);
const LARGEST: usize = 5 * 1024;

/// How long a document is taken as it was.
const GOOD_FOR: SignedDuration = SignedDuration::from_hours(1);

/// How many documents are remembered, and how many are fetched at once: of all hosts, and of one.
const REMEMBERED: usize = 1000;
const AT_ONCE: usize = 32;
const OF_ONE_HOST: usize = 2;

/// Documents about clients.
#[derive(Debug)]
pub(crate) struct Documents {
    guard: Guard,
    known: Cache<String, Arc<Known>>,
    /// The hosts that are being asked, each as often as it is.
    asked: Mutex<Vec<String>>,
}

/// One document that is being fetched.
struct Turn<'d> {
    asked: &'d Mutex<Vec<String>>,
    host: String,
}

/// Why there is no client.
enum Unread {
    /// The document is not there now.
    Away(String),
    /// It is not one that counts.
    Refused(OauthError),
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
        Self { guard, known: Cache::new(REMEMBERED), asked: Mutex::default() }
    }

    /// The client that a document is about.
    pub(crate) async fn client(&self, id: &str, now: Timestamp) -> Result<Client, OauthError> {
        let known = self.known.get(id);
        if let Some(known) = known.as_ref().filter(|known| known.until > now) {
            return Ok(known.client.clone());
        }
        let url = address(id).ok_or_else(|| {
            let text = "client_id: the address of a client document is https with a path, and nothing else";
            Fault::InvalidClient.because(text)
        })?;
        let _turn = self.turn(&url).ok_or_else(|| {
            Fault::TemporarilyUnavailable.because("other client documents are being fetched; try again")
        })?;
        let client = match (self.fetch(id, &url).await, known) {
            (Ok(client), _) => client,
            (Err(Unread::Refused(error)), _) => return Err(error),
            // Who is known from before is not sent away because a site is down.
            (Err(Unread::Away(_)), Some(known)) => return Ok(known.client.clone()),
            (Err(Unread::Away(why)), None) => {
                return Err(Fault::TemporarilyUnavailable.because(format!("the client document: {why}")));
            }
        };
        let until = now.saturating_add(GOOD_FOR).unwrap_or(now);
        self.known.insert(id.to_owned(), Arc::new(Known { client: client.clone(), until }));
        Ok(client)
    }

    /// Takes a turn, if there is one left. So one host that answers slowly does not keep the others waiting.
    fn turn(&self, url: &Url) -> Option<Turn<'_>> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free =
            asked.len() < AT_ONCE && asked.iter().filter(|other| **other == host).count() < OF_ONE_HOST;
        is_free.then(|| {
            asked.push(host.clone());
            Turn { asked: &self.asked, host }
        })
    }

    async fn fetch(&self, id: &str, url: &Url) -> Result<Client, Unread> {
        let refused = |text: String| {
            Unread::Refused(Fault::InvalidClient.because(format!("the client document: {text}")))
        };
        let response = self.guard.ask(url, Ask::Get, "application/json", LONGEST).await;
        let response = response.map_err(|error| match error {
            Unfetched::Failed(_) => Unread::Away(error.to_string()),
            Unfetched::NotPublic | Unfetched::NotThere(_) => refused(error.to_string()),
        })?;
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != "application/json" && !(kind.starts_with("application/") && kind.ends_with("+json")) {
            return Err(refused("it is not JSON by its Content-Type".to_owned()));
        }
        let body = tokio::time::timeout(LONGEST, http::read(response, LARGEST)).await;
        let body = body.map_err(|_| Unread::Away("it took too long".to_owned()))?.map_err(refused)?;
        read(id, &body).map_err(Unread::Refused)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = asked.iter().position(|host| *host == self.host) {
            asked.swap_remove(place);
        }
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
