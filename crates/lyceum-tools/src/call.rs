//! The context of a call, besides its arguments: caller, client capabilities, user input, and notifications.

use std::sync::Arc;

use lyceum_model::{Caller, ErrorCode};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::{
    AuditEvent, AuditSink, Error, Input,
    mcp::{ClientCapabilities, Notice, ProgressToken},
};

/// How many notifications may be queued for a slow client before further ones are dropped.
const NOTICE_QUEUE_CAPACITY: usize = 64;

/// The context that a tool gets with its arguments.
#[derive(Debug, Clone)]
pub struct Call {
    caller: Arc<Caller>,
    context: CallContext,
    /// The audit log, and the name of the tool in it.
    audit: Option<(AuditSink, String)>,
}

/// Severity of a log message, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are syslog's and need no explanation")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// The part of the context that the transport provides.
#[derive(Debug, Clone, Default)]
pub struct CallContext {
    /// Capabilities that the client declared.
    pub client: ClientCapabilities,
    /// User input from earlier rounds of this call.
    pub input: Input,
    /// Sink for progress and log notifications.
    pub notices: Notices,
}

/// Sink for the notifications of a call; discards them unless the client asked for them.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    sender: Option<mpsc::Sender<Notice>>,
    progress_token: Option<ProgressToken>,
    log_level: Option<LogLevel>,
}

impl Notices {
    /// Creates a sink for what the client asked for, and its receiver; no receiver if the client asked for nothing.
    pub fn requested(
        progress_token: Option<ProgressToken>,
        log_level: Option<LogLevel>,
    ) -> (Self, Option<mpsc::Receiver<Notice>>) {
        if progress_token.is_none() && log_level.is_none() {
            return (Self::default(), None);
        }
        let (sender, receiver) = mpsc::channel(NOTICE_QUEUE_CAPACITY);
        (Self { sender: Some(sender), progress_token, log_level }, Some(receiver))
    }

    /// Sends without blocking, and drops the notification if the queue is full: a slow client must not delay the call.
    fn send(&self, notice: Notice) {
        if let Some(sender) = &self.sender {
            let _dropped_when_full = sender.try_send(notice);
        }
    }
}

impl Call {
    pub(crate) fn new(caller: Arc<Caller>, context: CallContext) -> Self {
        Self { caller, context, audit: None }
    }

    /// The same call, with the audit log and the name of the tool in it.
    pub(crate) fn audited_by(self, sink: Option<AuditSink>, tool: &str) -> Self {
        Self { audit: sink.map(|sink| (sink, tool.to_owned())), ..self }
    }

    /// Records that a person approved an action, which may begin when this returns. It is recorded once, however often
    /// this is called with the same action.
    pub async fn record_approval(&self, action: &str, detail: &str) -> Result<(), Error> {
        let Some((sink, tool)) = &self.audit else { return Ok(()) };
        let recorded = sink.record(AuditEvent::Approved { caller: &self.caller, tool, action, detail });
        let message = "nothing was done, because the audit log can't be written; try again in a moment";
        recorded
            .await
            .map_err(|_| Error::Failed { code: ErrorCode::Unavailable, message: message.to_owned() })
    }

    /// The caller.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Capabilities that the client declared.
    pub fn client(&self) -> &ClientCapabilities {
        &self.context.client
    }

    /// User input from earlier rounds.
    pub fn input(&self) -> &Input {
        &self.context.input
    }

    /// Whether the client asked for progress notifications.
    pub fn wants_progress(&self) -> bool {
        self.context.notices.progress_token.is_some()
    }

    /// Sends a progress notification, if the client asked for progress.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let notices = &self.context.notices;
        if let Some(token) = &notices.progress_token {
            notices.send(Notice::progress(token.clone(), done, total, message));
        }
    }

    /// Sends a log message, if the client asked for that level.
    pub fn log(&self, level: LogLevel, message: &str) {
        let notices = &self.context.notices;
        if notices.log_level.is_some_and(|least| level >= least) {
            notices.send(Notice::log(level, message));
        }
    }
}
