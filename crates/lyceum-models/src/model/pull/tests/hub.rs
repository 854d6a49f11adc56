//! A model hub on a loopback address.

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

/// Which version of its files it has.
pub(super) const VERSION: &str = "\"v1\"";

/// What the hub does when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    Good,
    /// Cuts the first connection half way.
    CutsOnce,
    /// The same, and the second time sends all of it although a part was asked for.
    CutsOnceAndForgets,
    FailsTwice,
    StallsOnce,
    Stalls,
    /// Sends the client on to another path, as hubs do.
    SendsOn,
    /// Does not say how much there is, and does not end.
    Endless,
    Missing,
}

/// A running hub. Ends when it is dropped.
pub(super) struct Hub {
    address: String,
    task: JoinHandle<()>,
}

struct Shelf {
    day: Day,
    content: Bytes,
    asked: AtomicUsize,
}

impl Hub {
    /// A hub whose every file has this content.
    pub(super) async fn start(day: Day, content: Vec<u8>) -> Self {
        let shelf = Arc::new(Shelf { day, content: content.into(), asked: AtomicUsize::new(0) });
        Self::run(Router::new().fallback(get(answer)).with_state(shelf)).await
    }

    /// A hub with the files of this folder as those of its only model; the ONNX file where hubs have it.
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

async fn answer(State(shelf): State<Arc<Shelf>>, headers: HeaderMap, request: Request) -> Response {
    let asked = shelf.asked.fetch_add(1, Ordering::SeqCst);
    let content = shelf.content.clone();
    let half = content.len() / 2;
    let broken = || Some(Err(io::Error::other("cut")));
    match shelf.day {
        Day::Missing => StatusCode::NOT_FOUND.into_response(),
        Day::FailsTwice if asked < 2 => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Day::CutsOnce | Day::CutsOnceAndForgets if asked == 0 => {
            announced(content.len(), pieces(&content.slice(..half)).chain(stream::iter(broken())))
        }
        Day::StallsOnce if asked == 0 => {
            announced(content.len(), pieces(&content.slice(..half)).chain(stream::pending()))
        }
        Day::Stalls => announced(content.len(), stream::pending()),
        Day::Endless => Body::from_stream(stream::iter(parts(&content).into_iter().cycle().map(Piece::Ok)))
            .into_response(),
        Day::SendsOn if request.uri().path() != "/elsewhere" => {
            Redirect::temporary("/elsewhere").into_response()
        }
        Day::CutsOnceAndForgets => content.into_response(),
        Day::Good | Day::CutsOnce | Day::FailsTwice | Day::StallsOnce | Day::SendsOn => {
            part(content, &headers)
        }
    }
}

/// The part that was asked for, or all.
fn part(content: Bytes, headers: &HeaderMap) -> Response {
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let is_another = headers.get(header::IF_RANGE).is_some_and(|version| version != VERSION);
    let from = from.filter(|_| !is_another);
    let version = [(header::ETAG, VERSION)];
    let Some(from) = from else { return (version, content).into_response() };
    if from >= content.len() {
        let said = [(header::CONTENT_RANGE, format!("bytes */{}", content.len()))];
        return (StatusCode::RANGE_NOT_SATISFIABLE, said).into_response();
    }
    let said = format!("bytes {from}-{}/{}", content.len() - 1, content.len());
    (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, said)], content.slice(from..)).into_response()
}

type Piece = io::Result<Bytes>;

fn announced(length: usize, pieces: impl futures::Stream<Item = Piece> + Send + 'static) -> Response {
    (
        [(header::CONTENT_LENGTH, length.to_string()), (header::ETAG, VERSION.to_owned())],
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
