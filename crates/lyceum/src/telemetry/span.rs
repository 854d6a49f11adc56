//! Spans: one for each request and each run of a background job. Its id is on every log line written within it.
//!
//! They have the level ERROR, so that a log filter of `warn` keeps the ids on the lines it keeps. Where spans are exported, names and
//! attributes are those of OpenTelemetry's conventions for HTTP and MCP; elsewhere a span is its id and nothing else, for each
//! attribute costs a fast request a hundredth of its time.

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

/// How much of an id that a client chose is logged.
const MAX_ID_BYTES: usize = 128;

/// Whether spans are exported, and not only named in log lines.
static IS_EXPORTING: AtomicBool = AtomicBool::new(false);

/// From now on spans are exported.
pub(super) fn begin_export() {
    IS_EXPORTING.store(true, Ordering::Relaxed);
}

pub(super) fn is_exporting() -> bool {
    IS_EXPORTING.load(Ordering::Relaxed)
}

/// The span of an HTTP request. It continues the trace that `traceparent` names.
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

/// The span of a request over stdio, which has the id that its client gave it. It continues the trace that `_meta` names.
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

/// Says which MCP operation the current span is for.
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

/// Links the current span to the one that `_meta` names: over HTTP its parent is the one that the header names.
pub(crate) fn link_to(traceparent: Option<&str>) {
    let Some(traceparent) = traceparent.filter(|_| is_exporting()) else { return };
    let context =
        TraceContextPropagator::new().extract_with_context(&Context::new(), &TraceParent(traceparent));
    let linked = context.span().span_context().clone();
    if linked.is_valid() {
        Span::current().add_link(linked);
    }
}

/// Says how an HTTP request ended.
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
        // It can only fail for a span that has begun, or that nothing exports.
        let _is_continued = span.set_parent(parent);
    }
}

/// A `traceparent` that came by itself.
struct TraceParent<'a>(&'a str);

impl Extractor for TraceParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == "traceparent").then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent"]
    }
}
