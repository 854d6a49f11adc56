//! The MCP client over Streamable HTTP, for all protocol versions (ADR 26).
//!
//! A request is one POST whose response is one JSON body or an event stream. Results stay raw JSON. Ids and progress tokens
//! are our own; every body has a limit; content types are not trusted, because servers mix them up.

mod connection;
mod response;

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use lyceum_net::{ClientError, ClientOptions, SingleFlight, client};
use lyceum_tools::mcp::{ClientCapabilities, JsonObject, encode_header};
use reqwest::{
    Client, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Value, json, value::RawValue};

use crate::{Credential, Fault, Limits, Protocol, rpc::Outgoing};
pub(crate) use connection::{Connection, Era};

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// MCP 2026-07-28.
const MODERN: &str = "2026-07-28";

/// A client of one MCP server, with its own connection pool.
pub(crate) struct McpHttp {
    client: Client,
    url: Url,
    credential: Option<(HeaderName, HeaderValue)>,
    limits: Limits,
    protocol: Protocol,
    ids: AtomicU64,
    /// The protocol version and the session, once they are known.
    connection: Mutex<Option<Arc<Connection>>>,
    connecting: SingleFlight<(), Result<Arc<Connection>, Fault>>,
}

/// A request to an upstream.
pub(crate) struct Request<'a> {
    pub method: &'static str,
    /// The name or URI that `Mcp-Name` repeats.
    pub name: Option<&'a str>,
    pub params: JsonObject,
    /// The capabilities of the caller's client.
    pub client: ClientCapabilities,
    /// Headers that repeat arguments.
    pub headers: Vec<(String, String)>,
    /// Where progress notifications go; without it, none are requested.
    pub progress: Option<&'a (dyn Fn(Progress) + Send + Sync)>,
}

/// A progress notification.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    progress_token: u64,
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

impl<'a> Request<'a> {
    /// A request without capabilities and progress.
    pub(crate) fn new(method: &'static str, params: JsonObject) -> Self {
        Self {
            method,
            name: None,
            params,
            client: ClientCapabilities::default(),
            headers: Vec::new(),
            progress: None,
        }
    }

    /// Sends headers that repeat the name or URI.
    pub(crate) fn named(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }
}

impl McpHttp {
    /// Creates a client. Nothing is sent yet. For an https URL it reads the system's root certificates.
    pub(crate) fn new(
        url: Url,
        protocol: Protocol,
        credential: Option<&Credential>,
        limits: Limits,
    ) -> Result<Self, ClientError> {
        let options = ClientOptions { connect_timeout: Some(limits.connect), ..ClientOptions::default() };
        let credential = credential.and_then(|one| Some((one.header.clone(), one.value()?)));
        Ok(Self {
            client: client(&url, options)?,
            url,
            credential,
            limits,
            protocol,
            ids: AtomicU64::new(1),
            connection: Mutex::default(),
            connecting: SingleFlight::default(),
        })
    }

    /// Sends a request and returns the raw result. If the session has expired, the request was not executed, and is sent
    /// once more in a new session.
    pub(crate) async fn request(self: &Arc<Self>, request: &Request<'_>) -> Result<Box<RawValue>, Fault> {
        let connection = self.connected().await?;
        match self.send(&connection.era, request).await {
            Err(Fault::SessionGone) => {
                self.forget(&connection);
                let connection = self.connected().await?;
                self.send(&connection.era, request).await
            }
            result => result,
        }
    }

    /// The protocol version and session in use; concurrent callers connect once.
    pub(crate) async fn connected(self: &Arc<Self>) -> Result<Arc<Connection>, Fault> {
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let client = self.clone();
        let connect = async move {
            let connection = Arc::new(client.connect().await?);
            *client.slot() = Some(connection.clone());
            Ok(connection)
        };
        self.connecting.join((), connect).await
    }

    /// Connects anew at the next request: the server may have been replaced.
    pub(crate) fn reset(&self) {
        *self.slot() = None;
    }

    fn current(&self) -> Option<Arc<Connection>> {
        self.slot().clone()
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Connection>>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops a connection, unless another caller has replaced it already.
    fn forget(&self, connection: &Arc<Connection>) {
        self.slot().take_if(|current| Arc::ptr_eq(current, connection));
    }

    fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    async fn send(&self, era: &Era, request: &Request<'_>) -> Result<Box<RawValue>, Fault> {
        let id = self.next_id();
        let mut params = request.params.clone();
        let mut meta = JsonObject::new();
        let mut headers = HeaderMap::new();
        if matches!(era, Era::Modern) {
            meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), MODERN.into());
            meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client_info());
            meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), json!(request.client));
            headers.insert(METHOD, HeaderValue::from_static(request.method));
            let name = request.name.map(encode_header).and_then(|name| HeaderValue::try_from(name).ok());
            headers.extend(name.map(|name| (NAME, name)));
            let repeated = request.headers.iter().filter_map(|(name, value)| {
                Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
            });
            headers.extend(repeated);
        }
        if request.progress.is_some() {
            meta.insert("progressToken".to_owned(), id.into());
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        let body = Outgoing { jsonrpc: "2.0", id: Some(id), method: request.method, params: &params };
        let response = self.post(era, headers, body.encode()).await?;
        self.read(response, era, id, request.progress).await
    }

    /// Posts a message with the headers of the protocol version.
    async fn post(
        &self,
        era: &Era,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<reqwest::Response, Fault> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.extend(self.credential.clone());
        match era {
            Era::Modern => drop(headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(MODERN))),
            Era::Initializing => {}
            Era::Legacy { version, session } => {
                headers.insert(PROTOCOL_VERSION, version.clone());
                headers.extend(session.clone().map(|session| (SESSION_ID, session)));
            }
        }
        Ok(self.client.post(self.url.clone()).headers(headers).body(body).send().await?)
    }
}

fn client_info() -> Value {
    json!({ "name": "lyceum", "version": env!("CARGO_PKG_VERSION") })
}
