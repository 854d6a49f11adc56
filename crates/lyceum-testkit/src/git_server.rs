//! A Git server for tests: `git http-backend` behind a small HTTP server.
//!
//! It can require a token, move a repository, send webhooks, be stopped, fail or hang, and it records its requests.

mod backend;
mod checkout;
mod hook;
mod push;
mod repository;

use std::{
    collections::HashMap,
    convert::Infallible,
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, Full, Limited, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Frame, Incoming},
    header,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

pub use checkout::Checkout;
pub use hook::{Delivery, Outcome, signature};
pub use repository::TestRepository;

use hook::Deliveries;

/// Maximum size of a request.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// The delay before the connection is closed after half a pack.
const BREAK_OFF_DELAY: Duration = Duration::from_millis(100);

/// A response body.
type Body = UnsyncBoxBody<Bytes, io::Error>;

/// How the server responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerBehavior {
    /// Like a Git server.
    Normally,
    /// Always with this status; 429 also has `Retry-After`.
    With(u16),
    /// Never.
    Never,
    /// Like a Git server, but without packs: a clone never ends.
    WithoutPacks,
    /// Like a Git server, but the connection is closed in the middle of a pack.
    HalfAPack,
}

/// A Git server on a free port; stops on drop.
pub struct GitServer {
    root: TempDir,
    address: SocketAddr,
    state: Arc<State>,
    running: Mutex<Option<AbortHandle>>,
}

struct State {
    root: std::path::PathBuf,
    origin: String,
    setup: Mutex<Setup>,
    received: Mutex<Received>,
    deliveries: Deliveries,
    /// Serializes pushes, so that each has its own webhook delivery.
    pushing: tokio::sync::Mutex<()>,
}

/// The settings of the server.
struct Setup {
    behavior: ServerBehavior,
    token: Option<String>,
    /// Moved repositories, with their new URLs.
    moved: HashMap<String, String>,
}

/// The requests so far.
#[derive(Default)]
struct Received {
    requests: usize,
    passwords: Vec<String>,
}

impl GitServer {
    /// Starts a server without repositories.
    pub async fn start() -> io::Result<Self> {
        let root = TempDir::new()?;
        let setup = Setup { behavior: ServerBehavior::Normally, token: None, moved: HashMap::new() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = State {
            root: root.path().to_owned(),
            origin: format!("http://{address}"),
            setup: Mutex::new(setup),
            received: Mutex::default(),
            deliveries: Deliveries::default(),
            pushing: tokio::sync::Mutex::default(),
        };
        let server = Self { root, address, state: Arc::new(state), running: Mutex::new(None) };
        server.serve(listener);
        Ok(server)
    }

    /// The base URL, such as `http://127.0.0.1:4321`.
    pub fn origin(&self) -> String {
        self.state.origin.clone()
    }

    /// The URL of a repository.
    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.origin())
    }

    /// The folder of a repository.
    pub fn folder(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    /// Creates a repository without commits.
    pub fn repository(&self, name: &str) -> io::Result<TestRepository> {
        TestRepository::new(self.root.path(), name)
    }

    /// Creates a repository without commits, and a work tree elsewhere that pushes to it over HTTP.
    pub fn checkout(&self, name: &str) -> io::Result<Checkout> {
        Checkout::new(self.root.path(), name, self.url(name))
    }

    /// Sends a webhook to that URL for every push, signed with the secret.
    pub fn set_webhook(&self, url: &str, secret: &str) {
        self.state.deliveries.set_hook(url, secret);
    }

    /// Drops the next `count` webhook deliveries.
    pub fn lose_deliveries(&self, count: usize) {
        self.state.deliveries.lose(count);
    }

    /// All webhook deliveries, in the order of the pushes.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.state.deliveries.all()
    }

    /// Sends a delivery again, with the same id, like GitHub's "Redeliver".
    pub async fn redeliver(&self, id: &str) -> io::Result<Outcome> {
        self.state.deliveries.redeliver(id).await
    }

    /// Requires this token as password of every request.
    pub fn require_token(&self, token: &str) {
        self.state.setup().token = Some(token.to_owned());
    }

    /// Changes how it responds.
    pub fn behave(&self, behavior: ServerBehavior) {
        self.state.setup().behavior = behavior;
    }

    /// Stops requiring a token.
    pub fn require_no_token(&self) {
        self.state.setup().token = None;
    }

    /// Redirects a repository to another URL.
    pub fn move_repository(&self, name: &str, address: &str) {
        self.state.setup().moved.insert(format!("/{name}"), address.to_owned());
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.state.received().requests
    }

    /// The passwords of all requests.
    pub fn passwords(&self) -> Vec<String> {
        self.state.received().passwords.clone()
    }

    /// Stops the server: it no longer listens, and closes its connections.
    pub fn stop(&self) {
        if let Some(running) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            running.abort();
        }
    }

    /// Starts the server again, on the same port.
    pub async fn start_again(&self) -> io::Result<()> {
        self.stop();
        // The task that held the port may take a moment to end.
        for _ in 0..100 {
            match TcpListener::bind(self.address).await {
                Ok(listener) => {
                    self.serve(listener);
                    return Ok(());
                }
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, "another process took the port of the Git server"))
    }

    fn serve(&self, listener: TcpListener) {
        let state = self.state.clone();
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(connection(state.clone(), stream));
                while connections.try_join_next().is_some() {}
            }
        });
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl State {
    fn setup(&self) -> MutexGuard<'_, Setup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn connection(state: Arc<State>, stream: TcpStream) {
    let service = service_fn(|request| {
        let state = state.clone();
        async move { Ok::<_, Infallible>(respond(&state, request).await) }
    });
    let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let _broken_off = served.await;
}

async fn respond(state: &Arc<State>, request: Request<Incoming>) -> Response<Body> {
    let password = password(&request);
    {
        let mut received = state.received();
        received.requests += 1;
        received.passwords.extend(password.clone());
    }
    let (behavior, token, moved) = {
        let setup = state.setup();
        let moved = setup.moved.iter().find_map(|(from, to)| {
            let rest = request.uri().path().strip_prefix(from.as_str())?;
            let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
            Some(format!("{to}{rest}{query}"))
        });
        (setup.behavior, setup.token.clone(), moved)
    };
    match behavior {
        ServerBehavior::With(status) => {
            let mut response = plain(StatusCode::from_u16(status).unwrap_or_default(), "configured failure");
            if status == 429 {
                response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
            }
            return response;
        }
        ServerBehavior::Never => pending().await,
        ServerBehavior::WithoutPacks | ServerBehavior::HalfAPack | ServerBehavior::Normally => {}
    }
    if let Some(address) = moved {
        let mut response = plain(StatusCode::MOVED_PERMANENTLY, "moved");
        if let Ok(address) = address.parse() {
            response.headers_mut().insert(header::LOCATION, address);
        }
        return response;
    }
    if token.is_some() && token != password {
        let mut response = plain(StatusCode::UNAUTHORIZED, "authentication required");
        let challenge = header::HeaderValue::from_static("Basic realm=\"test\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        return response;
    }
    let is_pack = request.method() == Method::POST && request.uri().path().ends_with("/git-upload-pack");
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_REQUEST_BYTES).collect().await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "too large");
    };
    let body = body.to_bytes();
    // The first request only lists the branches.
    let is_pack = is_pack && contains(&body, b"command=fetch");
    if is_pack && behavior == ServerBehavior::WithoutPacks {
        pending::<()>().await;
    }
    let response = match push::repository(&head) {
        Some(name) => push::respond(state, name, &head, &body).await,
        None => backend::respond(&state.root, &head, &body).await,
    };
    match response {
        Ok(response) if is_pack && behavior == ServerBehavior::HalfAPack => {
            response.map(|bytes| half(&bytes))
        }
        Ok(response) => response.map(whole),
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// The first half; then the connection is closed.
fn half(bytes: &Bytes) -> Body {
    let first = bytes.slice(..bytes.len() / 2);
    let broken = async {
        tokio::time::sleep(BREAK_OFF_DELAY).await;
        Err(io::Error::from(io::ErrorKind::ConnectionReset))
    };
    StreamBody::new(stream::iter([Ok(Frame::data(first))]).chain(stream::once(broken))).boxed_unsync()
}

/// The password of Basic authentication.
fn password(request: &Request<Incoming>) -> Option<String> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let decoded = BASE64_STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(whole(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    response
}

fn contains(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}
