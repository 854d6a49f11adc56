//! Spans: one per request and per background job run. Its id is on every log line within it.
//!
//! Their level is ERROR, so that a log filter of `warn` keeps the ids. If spans are exported, names and attributes
//! follow OpenTelemetry's conventions for HTTP and MCP. Otherwise a span has only its id, because each attribute costs
//! a fast request one percent of its time.

use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderMap, Method, StatusCode};
use opentelemetry::{
    Context,
    propagation::{Extractor, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Span, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Maximum length of a client's request id in the log.
const MAX_ID_BYTES: usize = 128;

/// Whether spans are exported.
static IS_EXPORTING: AtomicBool = AtomicBool::new(false);

/// Enables the export attributes of spans.
pub(super) fn begin_export() {
    IS_EXPORTING.store(true, Ordering::Relaxed);
}

pub(super) fn is_exporting() -> bool {
    IS_EXPORTING.load(Ordering::Relaxed)
}

/// The span of an HTTP request, with the parent in `traceparent`.
pub(crate) fn of_http_request(
    id: &str,
    method: &Method,
    path: &str,
    route: &str,
    headers: &HeaderMap,
) -> Span {
    if !is_exporting() {
        return tracing::error_span!("request", request_id = id);
    }
    let span = tracing::error_span!(
        "request",
        request_id = id,
        mcp.method.name = Empty,
        gen_ai.tool.name = Empty,
        http.request.method = method.as_str(),
        http.route = route,
        http.response.status_code = Empty,
        url.path = path,
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
    );
    continue_trace(&span, &HeaderExtractor(headers));
    span
}

/// The span of a request over stdio, with the JSON-RPC id, and the parent in `_meta`.
pub(crate) fn of_message(id: &str, traceparent: Option<&str>) -> Span {
    let id = id.get(..MAX_ID_BYTES).unwrap_or(id);
    if !is_exporting() {
        return tracing::error_span!("request", request_id = id);
    }
    let span = tracing::error_span!(
        "request",
        request_id = id,
        mcp.method.name = Empty,
        gen_ai.tool.name = Empty,
        otel.name = Empty,
        otel.kind = "server",
    );
    if let Some(traceparent) = traceparent {
        continue_trace(&span, &TraceParent(traceparent));
    }
    span
}

/// Records the MCP operation of the current span.
pub(super) fn record_operation(method: &'static str, tool: &str) {
    if !is_exporting() {
        return;
    }
    let span = Span::current();
    span.record("mcp.method.name", method);
    if !tool.is_empty() {
        span.record("gen_ai.tool.name", tool);
    }
    span.context().span().update_name(format!("{method} {tool}").trim_end().to_owned());
}

/// Links the current span to the `traceparent` in `_meta`. Over HTTP, its parent is the one in the header.
pub(crate) fn link_to(traceparent: Option<&str>) {
    let Some(traceparent) = traceparent.filter(|_| is_exporting()) else { return };
    let context =
        TraceContextPropagator::new().extract_with_context(&Context::new(), &TraceParent(traceparent));
    let linked = context.span().span_context().clone();
    if linked.is_valid() {
        Span::current().add_link(linked);
    }
}

/// Records the status of an HTTP request.
pub(crate) fn record_status(span: &Span, status: StatusCode) {
    if is_exporting() {
        span.record("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
        }
    }
}

fn continue_trace(span: &Span, carrier: &dyn Extractor) {
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), carrier);
    if parent.span().span_context().is_valid() {
        // This only fails for a span that has started, or that is not exported.
        let _is_continued = span.set_parent(parent);
    }
}

/// A bare `traceparent`.
struct TraceParent<'a>(&'a str);

impl Extractor for TraceParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == "traceparent").then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent"]
    }
}
