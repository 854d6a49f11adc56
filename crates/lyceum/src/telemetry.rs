//! What operators see: JSON log lines on stderr, and metrics.

mod log;
mod metrics;
mod writer;

use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

pub(crate) use metrics::{Metrics, Operation};

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
    Ok(Logging(writer))
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.0.flush();
    }
}
