//! Metrics, with the names of OpenTelemetry's semantic conventions.

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use http::Method;
use jiff::Timestamp;
use lyceum_tools::View;
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

use super::span;

/// The metrics of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    registry: Registry,
    requests: Family<RequestLabels, Histogram>,
    operations: Family<OperationLabels, Histogram>,
    services: Family<ServiceLabels, Gauge>,
    pending: Family<PendingLabels, Gauge>,
    sources: Family<SourceLabels, Gauge>,
    audit: AuditMetrics,
}

/// Counts audit events. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditMetrics(Family<AuditLabels, Counter>);

/// What happened to an audit event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Disposition {
    /// Written to disk.
    Recorded,
    /// Not recorded, because the caller is anonymous.
    Anonymous,
    /// Dropped by the rate limit of a subject; the next entry has the count.
    LeftOut,
    /// Could not be written.
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AuditLabels {
    disposition: Disposition,
}

impl AuditMetrics {
    pub(crate) fn count(&self, disposition: Disposition) {
        self.0.get_or_create(&AuditLabels { disposition }).inc();
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServiceLabels {
    service: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PendingLabels {
    service: String,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    http_request_method: &'static str,
    http_route: Cow<'static, str>,
    http_response_status_code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    mcp_method_name: &'static str,
    gen_ai_tool_name: String,
    error_type: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let requests = Family::new_with_constructor(histogram as fn() -> Histogram);
        let operations = Family::new_with_constructor(histogram as fn() -> Histogram);
        let (help, unit) = ("Duration of HTTP requests, until the response is complete", Unit::Seconds);
        registry.register_with_unit("http_server_request_duration", help, unit, requests.clone());
        let (help, unit) = ("Duration of MCP operations", Unit::Seconds);
        registry.register_with_unit("mcp_server_operation_duration", help, unit, operations.clone());
        let services = Family::default();
        let help = "Health of a service, as in /health: 1 if healthy, 0 if degraded";
        registry.register("lyceum_service_healthy", help, services.clone());
        let pending = Family::default();
        let help = "Queued work of a service: objects to upload, embeddings to compute";
        registry.register("lyceum_pending", help, pending.clone());
        let sources = Family::default();
        let (help, unit) = ("When a source was last synced, as Unix time", Unit::Seconds);
        registry.register_with_unit("lyceum_source_synced_timestamp", help, unit, sources.clone());
        let audit = AuditMetrics::default();
        registry.register("lyceum_audit_events", "Events for the audit log", audit.0.clone());
        Self(Arc::new(Inner { registry, requests, operations, services, pending, sources, audit }))
    }
}

impl Metrics {
    pub(crate) fn audit(&self) -> AuditMetrics {
        self.0.audit.clone()
    }

    /// Records the current health of a service.
    pub(crate) fn service(&self, name: &str, is_well: bool) {
        let labels = ServiceLabels { service: name.to_owned() };
        self.0.services.get_or_create(&labels).set(is_well.into());
    }

    /// Records how much work of a kind is queued.
    pub(crate) fn pending(&self, service: &str, kind: &'static str, count: i64) {
        let labels = PendingLabels { service: service.to_owned(), kind };
        self.0.pending.get_or_create(&labels).set(count);
    }

    /// Records when a source was last synced.
    pub(crate) fn synced(&self, source: &str, at: Timestamp) {
        let labels = SourceLabels { source: source.to_owned() };
        self.0.sources.get_or_create(&labels).set(at.as_second());
    }

    /// Records a request of a route.
    pub(crate) fn request(&self, method: &Method, route: Cow<'static, str>, status: u16, elapsed: Duration) {
        let labels = RequestLabels {
            http_request_method: known_method(method),
            http_route: route,
            http_response_status_code: status,
        };
        self.0.requests.get_or_create(&labels).observe(elapsed.as_secs_f64());
    }

    pub(crate) fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _written = encode(&mut text, &self.0.registry);
        text
    }
}

/// An in-flight MCP operation.
#[derive(Debug)]
pub(crate) struct Operation {
    method: &'static str,
    tool: String,
    started: Instant,
}

impl Operation {
    /// Starts to measure, and names the current span. Only existing tools become labels, so that clients can't create
    /// labels.
    pub(crate) fn begin(view: &View, method: &str, name: Option<&str>) -> Self {
        let tool =
            name.filter(|name| method == "tools/call" && view.has_tool(name)).unwrap_or_default().to_owned();
        let method = known_mcp_method(method);
        span::record_operation(method, &tool);
        Self { method, tool, started: Instant::now() }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Records the duration; `error_type` is empty on success.
    pub(crate) fn finish(self, metrics: &Metrics, error_type: &'static str) {
        let labels =
            OperationLabels { mcp_method_name: self.method, gen_ai_tool_name: self.tool, error_type };
        metrics.0.operations.get_or_create(&labels).observe(self.started.elapsed().as_secs_f64());
    }
}

/// Buckets from 50 µs to 26 s, doubling.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.000_05, 2.0, 20))
}

fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        _ => "other",
    }
}

fn known_mcp_method(method: &str) -> &'static str {
    match method {
        "tools/call" => "tools/call",
        "tools/list" => "tools/list",
        "prompts/get" => "prompts/get",
        "prompts/list" => "prompts/list",
        "resources/read" => "resources/read",
        "resources/list" => "resources/list",
        "resources/templates/list" => "resources/templates/list",
        "completion/complete" => "completion/complete",
        "server/discover" => "server/discover",
        "skills/list" => "skills/list",
        "skills/get" => "skills/get",
        "resources/directory/read" => "resources/directory/read",
        _ => "other",
    }
}
