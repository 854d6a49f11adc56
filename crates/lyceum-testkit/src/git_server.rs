//! A Git server that tests fetch from: the `git http-backend` of this machine behind a small HTTP server.
//!
//! It can want a token, move a repository, be switched off, fail or hang, and it knows what it was asked.

mod backend;
mod repository;

use std::{
    collections::HashMap,
    convert::Infallible,
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, header, service::service_fn};
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};

pub use repository::TestRepository;

/// The largest request that is taken.
const LARGEST: usize = 64 * 1024 * 1024;

/// How the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// As a Git server does.
    Normally,
    /// Always with this status.
    With(u16),
    /// Never.
    Never,
    /// As a Git server does, but never with a pack: a clone that takes forever.
    WithoutPacks,
}

/// A Git server on a port of its own; it ends when it is dropped.
pub struct GitServer {
    root: TempDir,
    address: SocketAddr,
    state: Arc<State>,
    running: Mutex<Option<AbortHandle>>,
}

struct State {
    root: std::path::PathBuf,
    told: Mutex<Told>,
    asked: Mutex<Asked>,
}

/// What the server was told.
struct Told {
    answers: Answers,
    token: Option<String>,
    /// Repositories that are elsewhere now, and the address of their new place.
    moved: HashMap<String, String>,
}

/// What the server was asked.
#[derive(Default)]
struct Asked {
    requests: usize,
    passwords: Vec<String>,
}

impl GitServer {
    /// Starts a server without repositories.
    pub async fn start() -> io::Result<Self> {
        let root = TempDir::new()?;
        let told = Told { answers: Answers::Normally, token: None, moved: HashMap::new() };
        let state = State { root: root.path().to_owned(), told: Mutex::new(told), asked: Mutex::default() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let server = Self { root, address, state: Arc::new(state), running: Mutex::new(None) };
        server.serve(listener);
        Ok(server)
    }

    /// The address of the server itself, such as `http://127.0.0.1:4321`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address of a repository.
    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.origin())
    }

    /// Makes a repository without commits.
    pub fn repository(&self, name: &str) -> io::Result<TestRepository> {
        TestRepository::new(self.root.path(), name)
    }

    /// From now on every request must bring this token as its password.
    pub fn require_token(&self, token: &str) {
        self.state.told().token = Some(token.to_owned());
    }

    /// Says how to answer from now on.
    pub fn answer(&self, answers: Answers) {
        self.state.told().answers = answers;
    }

    /// From now on the repository is found at another address.
    pub fn move_repository(&self, name: &str, address: &str) {
        self.state.told().moved.insert(format!("/{name}"), address.to_owned());
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.state.asked().requests
    }

    /// The passwords that came with requests.
    pub fn passwords(&self) -> Vec<String> {
        self.state.asked().passwords.clone()
    }

    /// Switches the server off: nobody listens any more, and connections break off.
    pub fn stop(&self) {
        if let Some(running) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            running.abort();
        }
    }

    /// Switches the server on again, at the same address.
    pub async fn start_again(&self) -> io::Result<()> {
        self.stop();
        // The task that held the port may take a moment to go.
        for _ in 0..100 {
            match TcpListener::bind(self.address).await {
                Ok(listener) => {
                    self.serve(listener);
                    return Ok(());
                }
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, "the port of the Git server was taken by another"))
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
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn connection(state: Arc<State>, stream: TcpStream) {
    let service = service_fn(|request| {
        let state = state.clone();
        async move { Ok::<_, Infallible>(answer(&state, request).await) }
    });
    let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let _broken_off = served.await;
}

async fn answer(state: &State, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let password = password(&request);
    {
        let mut asked = state.asked();
        asked.requests += 1;
        asked.passwords.extend(password.clone());
    }
    let (answers, token, moved) = {
        let told = state.told();
        let moved = told.moved.iter().find_map(|(from, to)| {
            let rest = request.uri().path().strip_prefix(from.as_str())?;
            let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
            Some(format!("{to}{rest}{query}"))
        });
        (told.answers, told.token.clone(), moved)
    };
    match answers {
        Answers::With(status) => {
            return plain(StatusCode::from_u16(status).unwrap_or_default(), "as it was told");
        }
        Answers::Never => pending().await,
        Answers::WithoutPacks | Answers::Normally => {}
    }
    if let Some(address) = moved {
        let mut response = plain(StatusCode::MOVED_PERMANENTLY, "moved");
        if let Ok(address) = address.parse() {
            response.headers_mut().insert(header::LOCATION, address);
        }
        return response;
    }
    if token.is_some() && token != password {
        let mut response = plain(StatusCode::UNAUTHORIZED, "who are you?");
        let challenge = header::HeaderValue::from_static("Basic realm=\"test\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        return response;
    }
    let is_pack = request.method() == Method::POST && request.uri().path().ends_with("/git-upload-pack");
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, LARGEST).collect().await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "too large");
    };
    let body = body.to_bytes();
    // The first request only lists the branches.
    if is_pack && answers == Answers::WithoutPacks && contains(&body, b"command=fetch") {
        pending::<()>().await;
    }
    match backend::answer(&state.root, &head, &body).await {
        Ok(response) => response,
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// The password of Basic authentication.
fn password(request: &Request<Incoming>) -> Option<String> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let decoded = BASE64_STANDARD.decode(value.strip_prefix("Basic ")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    response
}

fn contains(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}
