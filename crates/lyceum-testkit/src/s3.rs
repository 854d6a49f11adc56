//! A fake S3-compatible object store with path-style URLs, in memory. It checks no signatures.

use std::{
    collections::BTreeMap,
    fmt::Write,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, header};
use sha2::{Digest, Sha256};
use tokio::{net::TcpListener, task::AbortHandle};

use crate::serving::serve;

/// A fake object store on a free port; stops on drop.
pub struct TestS3 {
    address: SocketAddr,
    objects: Arc<Mutex<BTreeMap<String, Bytes>>>,
    running: AbortHandle,
}

impl TestS3 {
    /// Starts it without objects. Every bucket exists.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let objects = Arc::default();
        let seen = Arc::clone(&objects);
        let handler = move |request| respond(request, Arc::clone(&seen));
        let running = tokio::spawn(serve(listener, handler)).abort_handle();
        Ok(Self { address, objects, running })
    }

    /// The endpoint.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The keys of all objects, each after the name of its bucket.
    pub fn keys(&self) -> Vec<String> {
        locked(&self.objects).keys().cloned().collect()
    }
}

impl Drop for TestS3 {
    fn drop(&mut self) {
        self.running.abort();
    }
}

type Objects = Arc<Mutex<BTreeMap<String, Bytes>>>;

fn locked(objects: &Mutex<BTreeMap<String, Bytes>>) -> MutexGuard<'_, BTreeMap<String, Bytes>> {
    objects.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn respond(request: Request<Incoming>, objects: Objects) -> Response<Full<Bytes>> {
    let key = request.uri().path().trim_start_matches('/').to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    match *request.method() {
        Method::PUT => {
            let Ok(body) = request.into_body().collect().await else {
                return response(StatusCode::BAD_REQUEST, Bytes::new());
            };
            let body = body.to_bytes();
            let tag = tag(&body);
            locked(&objects).insert(key, body);
            with_tag(response(StatusCode::OK, Bytes::new()), &tag)
        }
        Method::GET if query.contains("list-type=2") => list(&key, &query, &locked(&objects)),
        Method::GET | Method::HEAD => match locked(&objects).get(&key).cloned() {
            Some(body) => {
                let tag = tag(&body);
                with_tag(response(StatusCode::OK, body), &tag)
            }
            None => response(StatusCode::NOT_FOUND, "<Error><Code>NoSuchKey</Code></Error>".into()),
        },
        Method::DELETE => {
            locked(&objects).remove(&key);
            response(StatusCode::NO_CONTENT, Bytes::new())
        }
        _ => response(StatusCode::METHOD_NOT_ALLOWED, Bytes::new()),
    }
}

/// All objects of a bucket below a prefix, in one page.
fn list(bucket: &str, query: &str, objects: &BTreeMap<String, Bytes>) -> Response<Full<Bytes>> {
    let prefix = query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or_default();
    let prefix = format!("{}/{}", bucket.trim_end_matches('/'), prefix.replace("%2F", "/"));
    let mut text = String::from("<ListBucketResult><IsTruncated>false</IsTruncated>");
    for (key, body) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        let key = key.split_once('/').map_or("", |(_, key)| key);
        // Writing to a string can't fail.
        let _written = write!(
            text,
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>{}</ETag><Size>{}</Size></Contents>",
            tag(body),
            body.len()
        );
    }
    text.push_str("</ListBucketResult>");
    response(StatusCode::OK, text.into())
}

fn tag(body: &[u8]) -> String {
    format!("\"{}\"", const_hex::encode(Sha256::digest(body)))
}

fn response(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response
}

fn with_tag(mut response: Response<Full<Bytes>>, tag: &str) -> Response<Full<Bytes>> {
    if let Ok(tag) = tag.parse() {
        response.headers_mut().insert(header::ETAG, tag);
    }
    let modified = header::HeaderValue::from_static("Thu, 01 Jan 2026 00:00:00 GMT");
    response.headers_mut().insert(header::LAST_MODIFIED, modified);
    response
}
