//! The audit sink: where calls that the gate refused and calls that write are recorded.
//!
//! A call waits for its event, so that its answer comes after the event is on disk. A call that writes and is dropped on
//! the way (the client hung up, the deadline passed) is recorded too.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use lyceum_model::Caller;

use crate::Denied;

/// Something to be recorded.
#[derive(Debug, Clone, Copy)]
pub enum AuditEvent<'a> {
    /// The gate refused a call.
    Refused {
        /// Who called.
        caller: &'a Caller,
        /// Which tool.
        tool: &'a str,
        /// Why.
        denied: &'a Denied,
    },
    /// A tool that writes was called.
    Wrote {
        /// Who called.
        caller: &'a Caller,
        /// Which tool.
        tool: &'a str,
        /// What came of it.
        outcome: WriteOutcome,
    },
}

/// What came of a call that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It did what was asked.
    Done,
    /// It asked the person something, and is to be called again.
    InputRequired,
    /// It failed; something may have been written.
    Failed,
    /// Nobody waited for its end; something may have been written.
    Cancelled,
}

impl WriteOutcome {
    /// The word for it, such as `done`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::InputRequired => "input_required",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Is ready when the event is on disk, or when it is clear that it will not be. The event is recorded whether or not
/// somebody waits for this.
pub type Recorded = BoxFuture<'static, ()>;

/// Where events are recorded.
#[derive(Clone)]
pub struct AuditSink(Arc<dyn Fn(AuditEvent<'_>) -> Recorded + Send + Sync>);

impl AuditSink {
    /// Records by this function, which must not block.
    pub fn new(record: impl Fn(AuditEvent<'_>) -> Recorded + Send + Sync + 'static) -> Self {
        Self(Arc::new(record))
    }

    pub(crate) fn record(&self, event: AuditEvent<'_>) -> Recorded {
        (self.0)(event)
    }
}

impl fmt::Debug for AuditSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditSink")
    }
}

/// A call that writes, under way: recorded when it is finished, or as cancelled when it is dropped before.
#[derive(Debug)]
pub(crate) struct PendingWrite<'a> {
    pub(crate) sink: Option<&'a AuditSink>,
    pub(crate) caller: &'a Caller,
    pub(crate) tool: &'a str,
}

impl PendingWrite<'_> {
    /// Records what came of it, and waits for that.
    pub(crate) async fn finish(mut self, outcome: WriteOutcome) {
        if let Some(sink) = self.sink.take() {
            sink.record(AuditEvent::Wrote { caller: self.caller, tool: self.tool, outcome }).await;
        }
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        if let Some(sink) = self.sink {
            let outcome = WriteOutcome::Cancelled;
            drop(sink.record(AuditEvent::Wrote { caller: self.caller, tool: self.tool, outcome }));
        }
    }
}
