//! A fake model hub on a loopback address.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use futures::{StreamExt, stream};
use reqwest::Url;
use tokio::{net::TcpListener, task::JoinHandle};

/// ETag of its files.
pub(super) const ETAG: &str = "\"v1\"";

/// Behaviour of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    Good,
    /// Closes the first connection halfway.
    CutsOnce,
    /// The same, and ignores the range of the second request.
    CutsOnceAndIgnoresRange,
    FailsTwice,
    StallsOnce,
    Stalls,
    /// Redirects to another path, as hubs do.
    Redirects,
    /// Sends no content length, and never ends.
    Endless,
    Missing,
}

/// A running hub; stops when dropped.
pub(super) struct Hub {
    address: String,
    task: JoinHandle<()>,
}

struct HubState {
    behaviour: Behaviour,
    content: Bytes,
    requests: AtomicUsize,
}

impl Hub {
    /// Starts a hub whose every file has this content.
    pub(super) async fn start(behaviour: Behaviour, content: Vec<u8>) -> Self {
        let state = Arc::new(HubState { behaviour, content: content.into(), requests: AtomicUsize::new(0) });
        Self::run(Router::new().fallback(get(respond)).with_state(state)).await
    }

    /// Starts a hub that serves the files of this folder as its only model, with the ONNX file below `onnx/`.
    pub(super) async fn serving(folder: &Path) -> Self {
        let folder: Arc<PathBuf> = Arc::new(folder.to_owned());
        let serve = get(async |State(folder): State<Arc<PathBuf>>, request: Request| {
            let file = request.uri().path().split_once("/resolve/main/").map(|(_, file)| file.to_owned());
            let file = match file.as_deref() {
                Some("onnx/model.onnx") => "model.onnx",
                Some("model.onnx") | None => "",
                Some(other) => other,
            };
            std::fs::read(folder.join(file)).map_err(|_| StatusCode::NOT_FOUND)
        });
        Self::run(Router::new().fallback(serve).with_state(folder)).await
    }

    async fn run(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, task }
    }

    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    pub(super) fn url(&self, file: &str) -> Url {
        Url::parse(&format!("{}/{file}", self.address)).unwrap()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn respond(State(state): State<Arc<HubState>>, headers: HeaderMap, request: Request) -> Response {
    let requests = state.requests.fetch_add(1, Ordering::SeqCst);
    let content = state.content.clone();
    let half = content.len() / 2;
    let broken = || Some(Err(io::Error::other("cut")));
    match state.behaviour {
        Behaviour::Missing => StatusCode::NOT_FOUND.into_response(),
        Behaviour::FailsTwice if requests < 2 => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Behaviour::CutsOnce | Behaviour::CutsOnceAndIgnoresRange if requests == 0 => {
            with_length(content.len(), pieces(&content.slice(..half)).chain(stream::iter(broken())))
        }
        Behaviour::StallsOnce if requests == 0 => {
            with_length(content.len(), pieces(&content.slice(..half)).chain(stream::pending()))
        }
        Behaviour::Stalls => with_length(content.len(), stream::pending()),
        Behaviour::Endless => {
            Body::from_stream(stream::iter(parts(&content).into_iter().cycle().map(Piece::Ok)))
                .into_response()
        }
        Behaviour::Redirects if request.uri().path() != "/elsewhere" => {
            Redirect::temporary("/elsewhere").into_response()
        }
        Behaviour::CutsOnceAndIgnoresRange => content.into_response(),
        Behaviour::Good
        | Behaviour::CutsOnce
        | Behaviour::FailsTwice
        | Behaviour::StallsOnce
        | Behaviour::Redirects => part(content, &headers),
    }
}

/// The requested range, or the whole file.
fn part(content: Bytes, headers: &HeaderMap) -> Response {
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let is_stale = headers.get(header::IF_RANGE).is_some_and(|etag| etag != ETAG);
    let from = from.filter(|_| !is_stale);
    let etag = [(header::ETAG, ETAG)];
    let Some(from) = from else { return (etag, content).into_response() };
    if from >= content.len() {
        let content_range = [(header::CONTENT_RANGE, format!("bytes */{}", content.len()))];
        return (StatusCode::RANGE_NOT_SATISFIABLE, content_range).into_response();
    }
    let content_range = format!("bytes {from}-{}/{}", content.len() - 1, content.len());
    (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, content_range)], content.slice(from..))
        .into_response()
}

type Piece = io::Result<Bytes>;

fn with_length(length: usize, pieces: impl futures::Stream<Item = Piece> + Send + 'static) -> Response {
    (
        [(header::CONTENT_LENGTH, length.to_string()), (header::ETAG, ETAG.to_owned())],
        Body::from_stream(pieces),
    )
        .into_response()
}

fn pieces(content: &Bytes) -> impl futures::Stream<Item = Piece> + Send + 'static {
    stream::iter(parts(content).into_iter().map(Ok))
}

fn parts(content: &Bytes) -> Vec<Bytes> {
    let step = 1 << 16;
    let count = content.len().div_ceil(step);
    (0..count).map(|number| content.slice(number * step..content.len().min((number + 1) * step))).collect()
}
