//! Export of spans by OTLP over HTTP, where the variables of OpenTelemetry ask for it.
//!
//! Batching, sampling, resource attributes and headers are the SDK's, which reads `OTEL_*` itself. The requests go through our own
//! HTTP client, from the SDK's thread and on a runtime of their own, so that the last batch leaves after the server has ended.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use lyceum_net::{ClientOptions, client, read_body};
use opentelemetry::{Key, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::runtime::Runtime;

use crate::config::OtlpEndpoint;

/// The limit for one request; the SDK sets a shorter one where `OTEL_EXPORTER_OTLP_TIMEOUT` says so.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The receiver's answer is a status and a few counts.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Starts the export to that endpoint. Spans are dropped where the receiver is slower than they come.
pub(super) fn start(endpoint: &OtlpEndpoint) -> anyhow::Result<SdkTracerProvider> {
    let exporter =
        SpanExporter::builder().with_http().with_http_client(OtlpClient::new(endpoint)?).build()?;
    Ok(SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build())
}

/// What `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say of this process; it is called `lyceum` where they don't.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_attributes([version]);
    let detected = Resource::builder().build();
    let name = detected.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    if name.is_none_or(|name| name.starts_with("unknown_service")) {
        return resource.with_service_name("lyceum").build();
    }
    resource.build()
}

/// Our HTTP client, as the SDK calls it: from a thread that is its own.
struct OtlpClient {
    runtime: Runtime,
    client: reqwest::Client,
    /// Whether the last export failed, so that an outage is one line in the log and not one for each batch.
    is_failing: AtomicBool,
}

impl OtlpClient {
    fn new(endpoint: &OtlpEndpoint) -> anyhow::Result<Self> {
        let options = ClientOptions { timeout: Some(REQUEST_TIMEOUT), ..ClientOptions::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, client: client(&endpoint.0, options)?, is_failing: AtomicBool::new(false) })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let response = self.client.execute(request.try_into()?).await?;
        let mut whole = Response::new(Bytes::new());
        *whole.status_mut() = response.status();
        whole.headers_mut().clone_from(response.headers());
        *whole.body_mut() = read_body(response, MAX_RESPONSE_BYTES).await?.into();
        Ok(whole)
    }
}

impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpClient").finish_non_exhaustive()
    }
}

#[async_trait]
impl HttpClient for OtlpClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let result = self.runtime.block_on(self.send(request));
        let failure = match &result {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the receiver answered {}", response.status())),
            Err(error) => Some(error.to_string()),
        };
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(cause) if !was_failing => {
                tracing::warn!(
                    error.cause = cause,
                    "cannot export traces; dropping spans until the OTLP endpoint accepts them"
                );
            }
            None if was_failing => tracing::info!("traces are exported again"),
            Some(_) | None => {}
        }
        result
    }
}
