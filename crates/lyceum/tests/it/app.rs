//! The server under test: the real listener, middleware and transports, with a registry of the test's choice, in a
//! temporary folder.

mod logged;
mod older;
mod request;
mod response;
mod toolbox;

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use http::{HeaderValue, Method, header};
use hyper_util::rt::TokioIo;
use lyceum::{
    App,
    config::Config,
    http::{Policy, Route},
};
use lyceum_tools::Hub;
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

pub(crate) use older::Older;
pub(crate) use request::{MODERN, Request, body_of, call, get, message, modern, post};
pub(crate) use response::{Live, Response};
pub(crate) use toolbox::{Waiting, fixture, hub, object, registry, spec, tool, waiting};

/// Timeout of every wait. Long, because the machine may be busy.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// A server under test.
pub(crate) struct TestApp {
    pub(crate) addr: SocketAddr,
    /// The address of the operator listener, if there is one.
    pub(crate) operators: Option<SocketAddr>,
    /// Every row of the route table.
    pub(crate) routes: Vec<Row>,
    stop: CancellationToken,
    served: JoinHandle<()>,
    _folder: Option<TempDir>,
}

/// A row of the route table, without its handler.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) method: Option<Method>,
    pub(crate) path: String,
    pub(crate) policy: Policy,
}

impl Row {
    fn of(route: &Route) -> Self {
        Self { method: route.method().cloned(), path: route.path().to_owned(), policy: route.policy() }
    }
}

/// Lines of `lyceum.toml` that a test sets.
#[derive(Default, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) server: &'static str,
    pub(crate) limits: &'static str,
}

impl Settings {
    pub(crate) fn server(server: &'static str) -> Self {
        Self { server, ..Self::default() }
    }

    pub(crate) fn limits(limits: &'static str) -> Self {
        Self { limits, ..Self::default() }
    }

    fn config(self, folder: &Path) -> Config {
        config(folder, &format!("{}\n[limits]\n{}\n", self.server, self.limits))
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            logged::check_holds_no_secret();
        }
    }
}

impl TestApp {
    /// A server with the fixture of the conformance suite.
    pub(crate) async fn start() -> Self {
        Self::with(fixture(), Settings::default()).await
    }

    /// A server with another registry or other settings.
    pub(crate) async fn with(hub: Arc<Hub>, settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::at(folder.path(), hub, settings).await.holding(folder)
    }

    /// The same in a folder that outlives the server.
    pub(crate) async fn at(folder: &Path, hub: Arc<Hub>, settings: Settings) -> Self {
        Self::serve(settings.config(folder), |config, addr| App::with_hub(config, addr, hub)).await
    }

    /// The real product: the services of the configuration.
    pub(crate) async fn product(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::serve(settings.config(folder.path()), started).await.holding(folder)
    }

    /// The product with these tables.
    pub(crate) async fn product_of(tables: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::product_at(folder.path(), tables).await.holding(folder)
    }

    /// The product in a folder that outlives the server.
    pub(crate) async fn product_at(folder: &Path, tables: &str) -> Self {
        Self::serve(config(folder, tables), started).await
    }

    /// The product with a changed `Config`.
    pub(crate) async fn product_with(tables: &str, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path(), tables);
        change(&mut config);
        Self::serve(config, started).await.holding(folder)
    }

    /// The product without background tasks: sources change only when a caller refreshes them.
    pub(crate) async fn still_product_of(tables: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let build = |config, addr| App::new(config, addr).unwrap();
        Self::serve(config(folder.path(), tables), build).await.holding(folder)
    }

    /// A server in another process: for requests, not to stop.
    pub(crate) fn elsewhere(addr: SocketAddr) -> Self {
        let (stop, served) = (CancellationToken::new(), tokio::spawn(async {}));
        Self { addr, operators: None, routes: Vec::new(), stop, served, _folder: None }
    }

    /// A server with a custom `App`.
    pub(crate) async fn serve(config: Config, build: impl FnOnce(Config, SocketAddr) -> App) -> Self {
        logged::begin();
        let listening = lyceum::listen(&config).await.unwrap();
        let (addr, stop) = (listening.addr, CancellationToken::new());
        let app = build(config, addr);
        let operators = listening.operators.as_ref().map(|listener| listener.local_addr().unwrap());
        let routes = lyceum::http::routes(&app).iter().map(Row::of).collect();
        let served = lyceum::serve_until(app, listening, stop.clone());
        let served = tokio::spawn(async { served.await.unwrap() });
        Self { addr, operators, routes, stop, served, _folder: None }
    }

    fn holding(mut self, folder: TempDir) -> Self {
        self._folder = Some(folder);
        self
    }

    /// Takes its folder, which then outlives it.
    pub(crate) fn folder(&mut self) -> TempDir {
        self._folder.take().unwrap()
    }

    /// Starts the shutdown, without waiting for it.
    pub(crate) fn begin_stop(&self) {
        self.stop.cancel();
    }

    /// Stops the server and waits for it.
    pub(crate) async fn stop(mut self) {
        self.begin_stop();
        within("the server stops", &mut self.served).await.unwrap();
    }

    /// Sends a request on a new connection and reads the whole response.
    pub(crate) async fn send(&self, request: Request) -> Response {
        self.open(request).await.whole().await
    }

    /// Sends a request on a new connection; dropping the result disconnects.
    pub(crate) async fn open(&self, request: Request) -> Live {
        open(self.addr, request).await.unwrap()
    }

    /// A raw connection.
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.unwrap()
    }

    /// Sends raw bytes, and reads until the server closes the connection.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        let mut text = Vec::new();
        within("the server hangs up", stream.read_to_end(&mut text)).await.unwrap();
        Response::parse(&text)
    }

    /// Checks that other clients are served.
    pub(crate) async fn serves_others(&self) {
        let answer = self.send(get("/tools")).await;
        assert_eq!(answer.status, 200, "other clients are no longer served");
        let answer = self.send(modern("server/discover", &json!({}))).await;
        assert_eq!(answer.status, 200, "other clients are no longer served");
    }
}

/// The configuration with those lines, the first of them in `[server]`.
fn config(folder: &Path, lines: &str) -> Config {
    let text = format!("[server]\nlisten = \"127.0.0.1:0\"\ndata_dir = {folder:?}\n{lines}\n");
    let config = Config::from_text(Path::new("lyceum.toml"), &text);
    let mut config = config.unwrap_or_else(|faults| panic!("{text}\n{faults}"));
    // Vector search is tested with the real program, where there is a model.
    config.search.embedder = lyceum_models::embedder::Settings::None;
    config
}

/// The product with its background tasks.
fn started(config: Config, addr: SocketAddr) -> App {
    let app = App::new(config, addr).unwrap();
    app.start();
    app
}

/// Sends a request on a new connection; fails if there is no response.
pub(crate) async fn open(addr: SocketAddr, mut request: Request) -> io::Result<Live> {
    if !request.headers().contains_key(header::HOST) {
        let host = HeaderValue::try_from(addr.to_string()).unwrap();
        request.headers_mut().insert(header::HOST, host);
    }
    let stream = TokioIo::new(TcpStream::connect(addr).await?);
    let handshake = hyper::client::conn::http1::handshake(stream).await;
    let (mut sender, connection) = handshake.map_err(io::Error::other)?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // The response shows how the connection ended.
        let _ended = connection.await;
    }));
    let response = within("the head of the answer", sender.send_request(request)).await;
    Ok(Live::new(response.map_err(io::Error::other)?, sender, connection))
}

/// Waits for something with the timeout.
pub(crate) async fn within<T>(what: &str, event: impl Future<Output = T>) -> T {
    match tokio::time::timeout(TIMEOUT, event).await {
        Ok(happened) => happened,
        Err(_) => panic!("did not happen within {TIMEOUT:?}: {what}"),
    }
}
