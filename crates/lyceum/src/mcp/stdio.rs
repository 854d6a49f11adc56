//! MCP over standard input and output, all protocol versions on one pipe.
//!
//! Each line is one message. A modern request is dispatched by itself; anything else goes to the one session of an
//! earlier version. Whole lines are written, one at a time; log lines go to stderr.

use std::{collections::HashMap, sync::Arc};

use futures::{SinkExt, StreamExt, channel::mpsc, future::ready};
use lyceum_model::{Caller, ErrorCode};
use lyceum_tools::{
    View,
    mcp::{Incoming, Mcp, Message, Refusal, Reply, Request, RequestId, add_code, error_data},
};
use rmcp::{ServiceExt, model::ClientJsonRpcMessage};
use serde::Deserialize;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::legacy::{Session, Shared};
use crate::{
    app::App,
    config::Limits,
    telemetry::{Operation, span},
};

/// Maximum number of messages queued for a slow reader.
const MESSAGE_QUEUE_CAPACITY: usize = 64;

/// Maximum number of concurrent modern requests.
const MAX_CONCURRENT_REQUESTS: usize = 64;

/// Serves until standard input ends.
pub(crate) async fn serve_stdio(app: &App) -> std::io::Result<()> {
    serve(app, BufReader::new(tokio::io::stdin()), tokio::io::stdout()).await
}

async fn serve(
    app: &App,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let (sender, receiver) = mpsc::channel(MESSAGE_QUEUE_CAPACITY);
    let reading = async {
        let result = read(app, input, sender).await;
        app.mcp.hub().close();
        result
    };
    tokio::try_join!(reading, write(output, receiver)).map(|_| ())
}

/// Writes each message as one line.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> std::io::Result<()> {
    while let Some(mut line) = lines.next().await {
        line.push(b'\n');
        output.write_all(&line).await?;
        output.flush().await?;
    }
    Ok(())
}

/// Reads lines to the end of input, and waits for all requests.
async fn read(
    app: &App,
    mut input: impl AsyncBufRead + Unpin,
    output: mpsc::Sender<Vec<u8>>,
) -> std::io::Result<()> {
    let mut connection = Connection::new(app, output);
    let mut line = Vec::new();
    while read_line(&mut input, &mut line, &app.config.limits).await? {
        connection.take(&line).await;
    }
    connection.finish().await;
    Ok(())
}

/// Reads one line; false at the end of input. A line longer than the limit is truncated, and then fails to parse.
async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limits: &Limits,
) -> std::io::Result<bool> {
    line.clear();
    let max = u64::try_from(limits.body_bytes).unwrap_or(u64::MAX);
    let read = (&mut *input).take(max).read_until(b'\n', line).await?;
    if read > 0 && line.last() != Some(&b'\n') {
        skip_line(input).await?;
    }
    Ok(read > 0)
}

async fn skip_line(input: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<()> {
    loop {
        let part = input.fill_buf().await?;
        let end = part.iter().position(|byte| *byte == b'\n');
        let (used, done) = end.map_or((part.len(), part.is_empty()), |at| (at + 1, true));
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

/// Reads lines and dispatches them.
struct Connection {
    mcp: Mcp,
    caller: Arc<Caller>,
    limit: std::time::Duration,
    output: mpsc::Sender<Vec<u8>>,
    /// Lines for the session of an earlier version.
    legacy: mpsc::Sender<ClientJsonRpcMessage>,
    work: JoinSet<RequestId>,
    /// In-flight modern requests by id, for cancellation.
    running: HashMap<RequestId, CancellationToken>,
    /// Whether the legacy session has been initialized; before that it accepts nothing but requests.
    opened: bool,
}

impl Connection {
    fn new(app: &App, output: mpsc::Sender<Vec<u8>>) -> Self {
        let (legacy, lines) = mpsc::channel(MESSAGE_QUEUE_CAPACITY);
        let limit = app.config.limits.call;
        let shared = Shared {
            mcp: app.mcp.clone(),
            metrics: app.metrics.clone(),
            tasks: app.tasks.clone(),
            limit,
            caller: app.caller.clone(),
        };
        let encode = |mut message: rmcp::model::ServerJsonRpcMessage| {
            if let rmcp::model::JsonRpcMessage::Error(error) = &mut message {
                add_code(&mut error.error);
            }
            ready(Ok::<_, mpsc::SendError>(serde_json::to_vec(&message).unwrap_or_default()))
        };
        let to_client = output.clone().with(encode);
        app.tasks.spawn(async move {
            if let Ok(session) = Session::new(shared).serve((to_client, lines)).await {
                let _ended = session.waiting().await;
            }
        });
        let (mcp, caller) = (app.mcp.clone(), app.caller.clone());
        Self {
            mcp,
            caller,
            limit,
            output,
            legacy,
            work: JoinSet::new(),
            running: HashMap::new(),
            opened: false,
        }
    }

    async fn take(&mut self, line: &[u8]) {
        self.forget_finished();
        if line.trim_ascii().is_empty() {
            return;
        }
        match Incoming::parse(line) {
            Err(Refusal { error, id }) => self.send(Message::error(error, id)).await,
            Ok(Incoming::Request(request)) if is_modern(&request) => self.start(request).await,
            Ok(incoming) => {
                self.cancel(&incoming);
                self.forward_to_legacy(line, incoming).await;
            }
        }
    }

    /// Starts a modern request, or refuses it if there are too many: waiting here would block cancellations.
    async fn start(&mut self, request: Box<Request>) {
        if self.work.len() >= MAX_CONCURRENT_REQUESTS {
            let message = format!(
                "{MAX_CONCURRENT_REQUESTS} requests are in flight; wait for one to end, or cancel it"
            );
            let error = lyceum_tools::Error::Failed { code: ErrorCode::Unavailable, message };
            return self.send(Message::error(error_data(&error), Some(request.id))).await;
        }
        let stop = CancellationToken::new();
        let key = request.id.clone();
        self.running.insert(key.clone(), stop.clone());
        let view = View::of_all(self.mcp.hub().registry(), self.caller.clone());
        let limit = super::modern::deadline(&view, &request, self.limit);
        let (mcp, mut output) = (self.mcp.clone(), self.output.clone());
        let span = span::of_message(&key.to_string(), request.meta.traceparent());
        span.in_scope(|| Operation::begin(&view, &request.method, request.name()));
        let work = async move {
            let response = respond(&mcp, view, request, limit, &mut output);
            tokio::select! {
                () = response => {}
                () = stop.cancelled() => {}
            }
            key
        };
        self.work.spawn(work.instrument(span));
    }

    /// `notifications/cancelled` cancels a modern request; the legacy session handles its own.
    fn cancel(&self, incoming: &Incoming) {
        if let Incoming::Notification { method, params } = incoming
            && method == "notifications/cancelled"
            && let Some(Ok(id)) = params.get("requestId").map(RequestId::deserialize)
            && let Some(stop) = self.running.get(&id)
        {
            stop.cancel();
        }
    }

    /// Sends a line to the legacy session, if it can accept it.
    async fn forward_to_legacy(&mut self, line: &[u8], incoming: Incoming) {
        let request = match incoming {
            Incoming::Request(request) => Some(request),
            Incoming::Notification { .. } | Incoming::Response => None,
        };
        self.opened |= request.as_ref().is_some_and(|request| request.method == "initialize");
        if request.is_none() && !self.opened {
            return;
        }
        let refused = match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(message) => self.legacy.send(message).await.err().map(|_| "the session has ended".to_owned()),
            Err(error) => Some(format!("params: {error}")),
        };
        if let (Some(text), Some(request)) = (refused, request) {
            self.send(Message::error(rmcp::ErrorData::invalid_params(text, None), Some(request.id))).await;
        }
    }

    async fn send(&mut self, message: Message) {
        let _client_may_be_gone = self.output.send(self.mcp.encode(message)).await;
    }

    fn forget_finished(&mut self) {
        while let Some(finished) = self.work.try_join_next() {
            if let Ok(id) = finished {
                self.running.remove(&id);
            }
        }
    }

    /// At the end of input: ends subscriptions, and waits for in-flight requests.
    async fn finish(mut self) {
        self.mcp.hub().close();
        self.legacy.close_channel();
        while self.work.join_next().await.is_some() {}
    }
}

/// A request is modern if it names its version, or asks for the supported versions.
fn is_modern(request: &Request) -> bool {
    request.version().is_some() || request.method == "server/discover"
}

async fn respond(
    mcp: &Mcp,
    view: View,
    request: Box<Request>,
    limit: std::time::Duration,
    output: &mut mpsc::Sender<Vec<u8>>,
) {
    let (id, listens) = (request.id.clone(), request.method == "subscriptions/listen");
    let work = async {
        match mcp.dispatch(view, request, None).await {
            Reply::Refused(message) | Reply::One(message) => {
                let _client_may_be_gone = output.send(mcp.encode(*message)).await;
            }
            Reply::Stream(mut messages) => {
                while let Some(message) = messages.next().await {
                    let _client_may_be_gone = output.send(mcp.encode(message)).await;
                }
            }
        }
    };
    if listens {
        return work.await;
    }
    if tokio::time::timeout(limit, work).await.is_err() {
        let _client_may_be_gone = output.send(mcp.encode(super::modern::too_late(id))).await;
    }
}

#[cfg(test)]
mod tests;
