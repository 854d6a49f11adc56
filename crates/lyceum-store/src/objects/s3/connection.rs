//! The HTTP client for S3-compatible stores, which tells apart error responses that `object_store` does not.

use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use http::Uri;
use lyceum_net::{ClientError, ClientOptions, client};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use reqwest::{Client, Url};

use super::{super::ObjectError, ErrorClass, ErrorResponse};

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout of idle connections: shorter than that of most stores.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum number of bytes read of an error response.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// HTTP connections to a store.
#[derive(Debug, Clone)]
pub(super) struct Connection(Client);

impl Connection {
    /// Builds the client. Blocks on the disk.
    pub(super) fn new(endpoint: &Url) -> Result<Self, ObjectError> {
        let options = ClientOptions {
            connect_timeout: Some(CONNECT_TIMEOUT),
            idle_timeout: Some(IDLE_TIMEOUT),
            http1_only: true,
            ..ClientOptions::default()
        };
        client(endpoint, options).map(Self).map_err(|error| match error {
            ClientError::Trust(error) => ObjectError::Trust(error.into()),
            ClientError::Setup(error) => ObjectError::Failed(error.into()),
        })
    }
}

impl HttpConnector for Connection {
    fn connect(&self, _: &object_store::ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connection {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(uri) = with_encoded_spaces(request.uri()) {
            *request.uri_mut() = uri;
        }
        let (parts, body) = self.0.call(request).await?.into_parts();
        if parts.status.is_success() {
            return Ok(HttpResponse::from_parts(parts, body));
        }
        let body = read_error_body(body).await?;
        let response = ErrorResponse::read(parts.status.as_u16(), &body);
        // `object_store` decides by the kind whether to retry.
        match response.class() {
            ErrorClass::NoObject => Ok(HttpResponse::from_parts(parts, body.into())),
            ErrorClass::Busy => Err(HttpError::new(HttpErrorKind::Request, response)),
            ErrorClass::NoBucket | ErrorClass::Denied | ErrorClass::NameTooLong | ErrorClass::Other => {
                Err(HttpError::new(HttpErrorKind::Unknown, response))
            }
        }
    }
}

/// Replaces `+` by `%20` in the query. The signature is computed with `%20`, and not every store treats both
/// alike. A literal plus is already `%2B`.
fn with_encoded_spaces(uri: &Uri) -> Option<Uri> {
    let (path, query) = (uri.path(), uri.query().filter(|query| query.contains('+'))?);
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{path}?{}", query.replace('+', "%20")).parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Reads the body of an error response, up to a limit.
async fn read_error_body(body: HttpResponseBody) -> Result<Vec<u8>, HttpError> {
    let mut read = Vec::new();
    let mut chunks = body.bytes_stream();
    while let Some(chunk) = chunks.next().await
        && read.len() < MAX_ERROR_BYTES
    {
        read.extend_from_slice(&chunk?);
    }
    read.truncate(MAX_ERROR_BYTES);
    Ok(read)
}
