//! What operators see: JSON log lines on stderr, and metrics.

mod log;
mod metrics;
mod writer;

use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

pub(crate) use metrics::{AuditMetrics, Disposition, Metrics, Operation};

use crate::mcp;
use log::JsonLines;
use writer::LogWriter;

/// Writes the last log lines when it is dropped.
#[derive(Debug)]
pub struct Logging(LogWriter);

/// Sends log lines to stderr as JSON. Standard output belongs to the stdio transport.
pub fn init(filter: &str) -> anyhow::Result<Logging> {
    let mut filter = EnvFilter::try_new(filter).map_err(|error| {
        anyhow::anyhow!("LYCEUM_LOG is not a log filter ({error}); write for example info or lyceum=debug")
    })?;
    for directive in mcp::QUIET {
        filter = filter.add_directive(directive.parse()?);
    }
    let writer = LogWriter::start()?;
    tracing_subscriber::registry().with(filter).with(JsonLines(writer.clone())).init();
    // A panic that is contained is still told, as a line like any other.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "{}", panic.payload_as_str().unwrap_or("a panic without words"));
    }));
    Ok(Logging(writer))
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.0.flush();
    }
}
