//! A request to the API, and its response.

use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Error;

/// The media type of most responses.
const JSON: &str = "application/vnd.github+json";

/// Default size limit of a response.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;

/// A request. Its path is percent-encoded, and relative to the base URL of the API.
#[derive(Debug, Clone)]
pub struct Request {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    accept: &'static str,
    etag: Option<String>,
    body: Option<Value>,
    max_bytes: usize,
}

/// A successful response, or 304 to a conditional request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Entity tag, for [`Request::if_none_match`].
    pub etag: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// A `GET` request for a path such as `repos/acme/kb/contents/README.md`.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into())
    }

    /// A `POST` request with a JSON body.
    pub fn post(path: impl Into<String>, body: Value) -> Self {
        Self { body: Some(body), ..Self::new(Method::POST, path.into()) }
    }

    fn new(method: Method, path: String) -> Self {
        let (query, etag, body) = (Vec::new(), None, None);
        Self { method, path, query, accept: JSON, etag, body, max_bytes: MAX_RESPONSE_BYTES }
    }

    /// Adds a query parameter.
    pub fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// Asks for another media type.
    pub fn accept(self, media_type: &'static str) -> Self {
        Self { accept: media_type, ..self }
    }

    /// Asks for a response only if it differs from the one with that entity tag.
    pub fn if_none_match(self, etag: Option<&str>) -> Self {
        Self { etag: etag.map(str::to_owned), ..self }
    }

    /// Sets the size limit of the response.
    pub fn at_most(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    pub(super) fn method(&self) -> Method {
        self.method.clone()
    }

    pub(super) fn media_type(&self) -> &'static str {
        self.accept
    }

    pub(super) fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    pub(super) fn body(&self) -> Option<&Value> {
        self.body.as_ref()
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// The URL below the base URL.
    pub(super) fn url(&self, api: &Url) -> Result<Url, Error> {
        let mut url = Url::parse(&format!("{api}{}", self.path)).map_err(|_| Error::Invalid("request"))?;
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        Ok(url)
    }
}

impl Response {
    /// Whether what the client has is still current.
    pub fn is_unchanged(&self) -> bool {
        self.status == 304
    }

    /// Parses the body.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|_| Error::Invalid("response"))
    }
}
