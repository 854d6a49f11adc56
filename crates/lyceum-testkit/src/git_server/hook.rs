//! Webhooks like GitHub's: signed, sent once, each with an id, without retries.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use sha2::Sha256;
use tokio::net::TcpStream;

/// Timeout of a delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// A webhook delivery.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Its id; the same when it is redelivered.
    pub id: String,
    /// The event, such as `push`.
    pub event: String,
    /// The payload.
    pub body: Bytes,
    /// How the last attempt ended.
    pub outcome: Outcome,
}

/// How a delivery ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// No webhook is configured.
    NoHook,
    /// Sent; no response yet.
    Sent,
    /// Dropped, as the test asked for.
    Lost,
    /// No response.
    NoResponse,
    /// A response, with status and text.
    Response(u16, String),
}

impl Outcome {
    /// Whether the receiver acknowledged it.
    pub fn is_acknowledged(&self) -> bool {
        matches!(self, Self::Response(200..=299, _))
    }
}

/// The webhook, and all deliveries.
#[derive(Clone, Default)]
pub(super) struct Deliveries(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    hook: Option<Hook>,
    /// How many of the next deliveries are dropped.
    to_lose: usize,
    all: Vec<Delivery>,
}

#[derive(Clone)]
struct Hook {
    url: String,
    secret: String,
}

impl Deliveries {
    pub(super) fn set_hook(&self, url: &str, secret: &str) {
        self.inner().hook = Some(Hook { url: url.to_owned(), secret: secret.to_owned() });
    }

    pub(super) fn lose(&self, count: usize) {
        self.inner().to_lose = count;
    }

    pub(super) fn all(&self) -> Vec<Delivery> {
        self.inner().all.clone()
    }

    /// Starts a delivery, without waiting for the response.
    pub(super) fn deliver(&self, event: &str, body: Bytes) {
        let mut inner = self.inner();
        let mut delivery = Delivery { id: next_id(), event: event.to_owned(), body, outcome: Outcome::Sent };
        let hook = inner.hook.clone();
        match hook {
            None => delivery.outcome = Outcome::NoHook,
            Some(_) if inner.to_lose > 0 => {
                inner.to_lose -= 1;
                delivery.outcome = Outcome::Lost;
            }
            Some(hook) => {
                let (deliveries, delivery) = (self.clone(), delivery.clone());
                tokio::spawn(async move {
                    let outcome = send(&hook, &delivery).await;
                    deliveries.set_outcome(&delivery.id, &outcome);
                });
            }
        }
        inner.all.push(delivery);
    }

    pub(super) async fn redeliver(&self, id: &str) -> io::Result<Outcome> {
        let found = {
            let inner = self.inner();
            let delivery = inner.all.iter().find(|delivery| delivery.id == id).cloned();
            inner.hook.clone().zip(delivery)
        };
        let (hook, delivery) = found
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such delivery, or no webhook"))?;
        let outcome = send(&hook, &delivery).await;
        self.set_outcome(id, &outcome);
        Ok(outcome)
    }

    fn set_outcome(&self, id: &str, outcome: &Outcome) {
        for delivery in self.inner().all.iter_mut().filter(|delivery| delivery.id == id) {
            delivery.outcome = outcome.clone();
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of `X-Hub-Signature-256` for a body.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(body);
    format!("sha256={}", const_hex::encode(mac.finalize().into_bytes()))
}

/// A unique id in the form of a GUID.
fn next_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:08x}-{:04x}-4000-8000-{number:012x}", std::process::id(), 0x5eed)
}

async fn send(hook: &Hook, delivery: &Delivery) -> Outcome {
    match tokio::time::timeout(DELIVERY_TIMEOUT, post(hook, delivery)).await {
        Ok(Ok((status, text))) => Outcome::Response(status, text),
        Ok(Err(_)) | Err(_) => Outcome::NoResponse,
    }
}

async fn post(hook: &Hook, delivery: &Delivery) -> io::Result<(u16, String)> {
    let invalid_url =
        || io::Error::new(io::ErrorKind::InvalidInput, "the URL of a webhook must be http://host:port/path");
    let rest = hook.url.strip_prefix("http://").ok_or_else(invalid_url)?;
    let (host, path) = rest.split_once('/').ok_or_else(invalid_url)?;
    let request = Request::post(format!("/{path}"))
        .header(header::HOST, host)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "GitHub-Hookshot/test")
        .header("X-GitHub-Event", &delivery.event)
        .header("X-GitHub-Delivery", &delivery.id)
        .header("X-Hub-Signature-256", signature(&hook.secret, &delivery.body))
        .body(Full::new(delivery.body.clone()))
        .map_err(io::Error::other)?;
    let stream = TokioIo::new(TcpStream::connect(host).await?);
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(stream).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let response = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES)
            .collect()
            .await
            .map_err(io::Error::other)?;
        Ok((status, String::from_utf8_lossy(&body.to_bytes()).into_owned()))
    };
    let response = response.await;
    connection.abort();
    response
}
