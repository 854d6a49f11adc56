//! Telling of pushes, as GitHub does: signed, once, with an id of its own, and without trying again.

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

/// How long an answer is waited for.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest answer that is read.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// News of a push.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Its id; the same when it is delivered again.
    pub id: String,
    /// What it is about, such as `push`.
    pub event: String,
    /// What is told.
    pub body: Bytes,
    /// What became of it the last time.
    pub outcome: Outcome,
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nobody is to be told.
    NoHook,
    /// It is on its way.
    Sent,
    /// It was lost on the way, as the test asked for.
    Lost,
    /// Nobody answered.
    Unanswered,
    /// It was answered, with a status and a text.
    Answered(u16, String),
}

impl Outcome {
    /// Whether the other side said that it has it.
    pub fn is_acknowledged(&self) -> bool {
        matches!(self, Self::Answered(200..=299, _))
    }
}

/// Who is told, and all that was told.
#[derive(Clone, Default)]
pub(super) struct Deliveries(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    hook: Option<Hook>,
    /// How many are still to be lost.
    losing: usize,
    all: Vec<Delivery>,
}

#[derive(Clone)]
struct Hook {
    address: String,
    secret: String,
}

impl Deliveries {
    pub(super) fn tell(&self, address: &str, secret: &str) {
        self.inner().hook = Some(Hook { address: address.to_owned(), secret: secret.to_owned() });
    }

    pub(super) fn lose(&self, count: usize) {
        self.inner().losing = count;
    }

    pub(super) fn all(&self) -> Vec<Delivery> {
        self.inner().all.clone()
    }

    /// Tells of something, without waiting for the answer.
    pub(super) fn deliver(&self, event: &str, body: Bytes) {
        let mut inner = self.inner();
        let mut delivery = Delivery { id: next_id(), event: event.to_owned(), body, outcome: Outcome::Sent };
        let hook = inner.hook.clone();
        match hook {
            None => delivery.outcome = Outcome::NoHook,
            Some(_) if inner.losing > 0 => {
                inner.losing -= 1;
                delivery.outcome = Outcome::Lost;
            }
            Some(hook) => {
                let (deliveries, delivery) = (self.clone(), delivery.clone());
                tokio::spawn(async move {
                    let outcome = send(&hook, &delivery).await;
                    deliveries.note(&delivery.id, &outcome);
                });
            }
        }
        inner.all.push(delivery);
    }

    pub(super) async fn deliver_again(&self, id: &str) -> io::Result<Outcome> {
        let found = {
            let inner = self.inner();
            let delivery = inner.all.iter().find(|delivery| delivery.id == id).cloned();
            inner.hook.clone().zip(delivery)
        };
        let (hook, delivery) = found
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such delivery, or nobody to tell"))?;
        let outcome = send(&hook, &delivery).await;
        self.note(id, &outcome);
        Ok(outcome)
    }

    fn note(&self, id: &str, outcome: &Outcome) {
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

/// Looks like a GUID, and there is one of each.
fn next_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:08x}-{:04x}-4000-8000-{number:012x}", std::process::id(), 0x5eed)
}

async fn send(hook: &Hook, delivery: &Delivery) -> Outcome {
    match tokio::time::timeout(DELIVERY_TIMEOUT, post(hook, delivery)).await {
        Ok(Ok((status, text))) => Outcome::Answered(status, text),
        Ok(Err(_)) | Err(_) => Outcome::Unanswered,
    }
}

async fn post(hook: &Hook, delivery: &Delivery) -> io::Result<(u16, String)> {
    let strange =
        || io::Error::new(io::ErrorKind::InvalidInput, "the address of a hook is http://host:port/path");
    let rest = hook.address.strip_prefix("http://").ok_or_else(strange)?;
    let (host, path) = rest.split_once('/').ok_or_else(strange)?;
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
    let answered = async {
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES)
            .collect()
            .await
            .map_err(io::Error::other)?;
        Ok((status, String::from_utf8_lossy(&body.to_bytes()).into_owned()))
    };
    let answered = answered.await;
    connection.abort();
    answered
}
