//! Export of spans over OTLP/HTTP, enabled by OpenTelemetry's variables.
//!
//! The SDK does batching, sampling, resource attributes and headers, and reads `OTEL_*` itself. Requests go through
//! our own HTTP client, from the SDK's thread and on a runtime of their own, so that the last batch is sent after the
//! server has stopped.

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

/// Timeout of one request; the SDK applies a shorter one if `OTEL_EXPORTER_OTLP_TIMEOUT` says so.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a response, which is a status and a few counts.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Starts the export. Spans are dropped if the receiver is too slow.
pub(super) fn start(endpoint: &OtlpEndpoint) -> anyhow::Result<SdkTracerProvider> {
    let exporter =
        SpanExporter::builder().with_http().with_http_client(OtlpClient::new(endpoint)?).build()?;
    Ok(SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build())
}

/// The resource attributes of this process; the service name is `lyceum` unless `OTEL_SERVICE_NAME` or
/// `OTEL_RESOURCE_ATTRIBUTES` sets it.
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

/// Our HTTP client for the SDK, which calls it from its own thread.
struct OtlpClient {
    runtime: Runtime,
    client: reqwest::Client,
    /// Whether the last export failed, so that an outage is logged once and not per batch.
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
        let mut converted = Response::new(Bytes::new());
        *converted.status_mut() = response.status();
        converted.headers_mut().clone_from(response.headers());
        *converted.body_mut() = read_body(response, MAX_RESPONSE_BYTES).await?.into();
        Ok(converted)
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
            Ok(response) => Some(format!("the receiver responded with {}", response.status())),
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
            None if was_failing => tracing::info!("trace export recovered"),
            Some(_) | None => {}
        }
        result
    }
}
