//! Telemetry: log lines on stderr, as text on a terminal and as JSON elsewhere, metrics, and traces over OTLP if an endpoint is set.

mod log;
mod metrics;
mod otlp;
pub(crate) mod span;
mod text;
mod writer;

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

pub(crate) use metrics::{AuditMetrics, Disposition, Metrics, Operation};

use crate::{
    config::{LogFormat, LogSettings},
    mcp,
};
use log::JsonLines;
use text::TextLines;
use writer::LogWriter;

/// How long shutdown waits for the export of the last spans.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// Flushes log lines and exports the last spans on drop.
#[derive(Debug)]
pub struct Logging {
    writer: LogWriter,
    traces: Option<SdkTracerProvider>,
}

/// Sends log lines to stderr, and spans to the OTLP endpoint if there is one. Standard output belongs to the stdio
/// transport.
pub fn init(settings: &LogSettings) -> anyhow::Result<Logging> {
    let LogSettings { filter, format, otlp } = settings;
    let filter: Targets = filter.parse().map_err(|error| {
        anyhow::anyhow!(
            "LYCEUM_LOG is not a log filter ({error}); write for example info or lyceum=debug,info"
        )
    })?;
    let filter = filter.with_targets(mcp::LOG_LEVELS);
    let writer = LogWriter::start(*format)?;
    let traces = otlp.as_ref().map(otlp::start).transpose()?;
    let exported = traces.as_ref().map(|traces| {
        span::begin_export();
        let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer("lyceum"));
        layer.with_location(false).with_target(false).with_threads(false).with_tracked_inactivity(false)
    });
    let lines = match format {
        LogFormat::Json => JsonLines::new(writer.clone()).boxed(),
        LogFormat::Text(color) => TextLines::new(writer.clone(), *color).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(exported).with(lines).init();
    // Logs caught panics too.
    std::panic::set_hook(Box::new(|panic| {
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(location, "{}", panic.payload_as_str().unwrap_or("panic without a message"));
    }));
    Ok(Logging { writer, traces })
}

impl Drop for Logging {
    fn drop(&mut self) {
        if let Some(traces) = &self.traces
            && let Err(error) = traces.shutdown_with_timeout(EXPORT_TIMEOUT)
        {
            tracing::warn!(error.cause = %error, "could not export the last traces");
        }
        self.writer.flush();
    }
}
