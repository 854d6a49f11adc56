//! What a tool is told about the call beside its arguments, and how it reports while it works.

use std::sync::Arc;

use lyceum_model::Caller;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::{
    Input,
    mcp::{ClientCapabilities, Notice, ProgressToken},
};

/// How many notices may wait for a slow reader before further ones are dropped.
const NOTICE_QUEUE_CAPACITY: usize = 64;

/// One call: who makes it, and where its notices go.
#[derive(Debug, Clone)]
pub struct Call {
    caller: Arc<Caller>,
    context: CallContext,
}

/// How much a log message matters, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are those of syslog, and say it all")]
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

/// What the door knows of a call.
#[derive(Debug, Clone, Default)]
pub struct CallContext {
    /// What the client said it can do.
    pub client: ClientCapabilities,
    /// Answers to earlier questions of this call.
    pub input: Input,
    /// Where progress and log messages go.
    pub notices: Notices,
}

/// Where a call's notices go: nowhere, unless the client asked for them.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    sender: Option<mpsc::Sender<Notice>>,
    progress_token: Option<ProgressToken>,
    log_level: Option<LogLevel>,
}

impl Notices {
    /// Notices as the client asked for them, and the end to read them from; nothing to read when it did not ask.
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

    /// Sends, or drops when the reader is too slow: a notice must never hold up the work.
    fn send(&self, notice: Notice) {
        if let Some(sender) = &self.sender {
            let _dropped_when_full = sender.try_send(notice);
        }
    }
}

impl Call {
    pub(crate) fn new(caller: Arc<Caller>, context: CallContext) -> Self {
        Self { caller, context }
    }

    /// Who calls.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// What the client said it can do.
    pub fn client(&self) -> &ClientCapabilities {
        &self.context.client
    }

    /// What came back from earlier questions.
    pub fn input(&self) -> &Input {
        &self.context.input
    }

    /// Tells how far the work is, if the client wants to know.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let notices = &self.context.notices;
        if let Some(token) = &notices.progress_token {
            notices.send(Notice::progress(token.clone(), done, total, message));
        }
    }

    /// Sends a log message to the client, if it asked for that level.
    pub fn log(&self, level: LogLevel, message: &str) {
        let notices = &self.context.notices;
        if notices.log_level.is_some_and(|least| level >= least) {
            notices.send(Notice::log(level, message));
        }
    }
}
