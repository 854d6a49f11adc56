//! The audit sink: records calls that the gate refused, calls that write, and actions that a person approved.
//!
//! A call waits until its event is on disk before it responds. A write that is cancelled (the client disconnected, the
//! deadline passed) is recorded too.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use lyceum_model::Caller;

use crate::Denied;

/// An event for the audit log.
#[derive(Debug, Clone, Copy)]
pub enum AuditEvent<'a> {
    /// The gate refused a call.
    Refused {
        /// The caller.
        caller: &'a Caller,
        /// The name of the tool.
        tool: &'a str,
        /// What is missing.
        denied: &'a Denied,
    },
    /// A tool that writes was called.
    Wrote {
        /// The caller.
        caller: &'a Caller,
        /// The name of the tool.
        tool: &'a str,
        /// How the call ended.
        outcome: WriteOutcome,
    },
    /// A person approved an action, which now begins. Recorded once per action, however often it is tried.
    Approved {
        /// The caller.
        caller: &'a Caller,
        /// The name of the tool.
        tool: &'a str,
        /// The id of the action.
        action: &'a str,
        /// What it does.
        detail: &'a str,
    },
}

/// How a call that writes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Succeeded.
    Done,
    /// Asked for user input; the client calls again with it.
    InputRequired,
    /// Failed; something may have been written.
    Failed,
    /// Cancelled before it ended; something may have been written.
    Cancelled,
}

impl WriteOutcome {
    /// The name in the audit log, such as `done`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::InputRequired => "input_required",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The event is not on disk; the sink has logged why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the audit log can't be written")]
pub struct NotRecorded;

/// Resolves when the event is on disk, left out by a rule of the sink, or when writing it failed. The event is recorded
/// whether or not this is awaited.
pub type Recorded = BoxFuture<'static, Result<(), NotRecorded>>;

/// Records audit events.
#[derive(Clone)]
pub struct AuditSink(Arc<dyn Fn(AuditEvent<'_>) -> Recorded + Send + Sync>);

impl AuditSink {
    /// Wraps a function that records events. It must not block.
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

/// An in-flight call that writes. [`finish`](Self::finish) records its outcome; dropping it records a cancellation.
#[derive(Debug)]
pub(crate) struct PendingWrite<'a> {
    pub(crate) sink: Option<&'a AuditSink>,
    pub(crate) caller: &'a Caller,
    pub(crate) tool: &'a str,
}

impl PendingWrite<'_> {
    /// Records the outcome, and waits until it is recorded.
    pub(crate) async fn finish(mut self, outcome: WriteOutcome) {
        if let Some(sink) = self.sink.take() {
            // It was written; the caller gets the response even if the log can't be written.
            let _logged =
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
