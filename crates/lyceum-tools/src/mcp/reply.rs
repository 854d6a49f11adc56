//! The reply to a request: one message, or a stream of notifications that ends with the response.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures::{
    Stream, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerNotification, ServerRequest, ServerResult};
use serde::{Serialize, Serializer};
use tokio::sync::mpsc;

use super::Notice;
use crate::{RelayedResult, ToolResult};

/// One message to the client.
pub type Message = JsonRpcMessage<ServerRequest, MessageResult, ServerNotification>;

/// The result in a message.
#[derive(Debug, Clone)]
pub enum MessageResult {
    /// Of this server.
    Own(Box<ServerResult>),
    /// Of an upstream server, as raw JSON.
    Relayed(RelayedResult),
}

impl MessageResult {
    /// Whether it is the result of a tool that failed.
    pub fn is_tool_error(&self) -> bool {
        match self {
            Self::Own(result) => {
                matches!(&**result, ServerResult::CallToolResult(result) if result.is_error == Some(true))
            }
            Self::Relayed(result) => result.is_error(),
        }
    }
}

impl<T: Into<ServerResult>> From<T> for MessageResult {
    fn from(result: T) -> Self {
        Self::Own(Box::new(result.into()))
    }
}

impl Serialize for MessageResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(result) => result.serialize(serializer),
            Self::Relayed(result) => result.serialize(serializer),
        }
    }
}

/// The result of a tool call in a message.
pub(crate) fn tool_result(result: ToolResult) -> MessageResult {
    match result {
        ToolResult::Own(result) => result.into(),
        ToolResult::Relayed(result) => MessageResult::Relayed(result),
    }
}

/// The reply to one request.
pub enum Reply {
    /// The request was rejected before its method ran: malformed, or an unsupported version or method.
    Refused(Box<Message>),
    /// One response.
    One(Box<Message>),
    /// Notifications, with the response as the last message.
    Stream(BoxStream<'static, Message>),
}

impl Reply {
    pub(crate) fn refused(error: ErrorData, id: Option<RequestId>) -> Self {
        Self::Refused(Box::new(Message::error(error, id)))
    }

    /// Waits for a call, and streams only if it sends a notification before it ends.
    pub(crate) async fn of_call(work: BoxFuture<'static, Message>, notices: mpsc::Receiver<Notice>) -> Self {
        let mut call = CallStream { work: Some(work), notices, response: None };
        match call.next().await {
            Some(first) if matches!(first, Message::Notification(_)) => {
                Self::Stream(stream::once(async { first }).chain(call).boxed())
            }
            Some(response) => Self::One(Box::new(response)),
            None => Self::Stream(stream::empty().boxed()),
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(message) => f.debug_tuple("Refused").field(message).finish(),
            Self::One(message) => f.debug_tuple("One").field(message).finish(),
            Self::Stream(_) => f.debug_tuple("Stream").finish_non_exhaustive(),
        }
    }
}

/// Wraps a result or an error in a message.
pub(crate) fn message(result: Result<MessageResult, ErrorData>, id: RequestId) -> Message {
    match result {
        Ok(result) => Message::response(result, id),
        Err(error) => Message::error(error, Some(id)),
    }
}

/// A call in progress: yields its notifications as they come, all of them before the response.
struct CallStream {
    work: Option<BoxFuture<'static, Message>>,
    notices: mpsc::Receiver<Notice>,
    response: Option<Message>,
}

impl Stream for CallStream {
    type Item = Message;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        if self.work.is_none() && self.response.is_none() {
            // The response is always last, even if a task that the call spawned still sends notifications.
            return Poll::Ready(None);
        }
        if let Some(work) = self.work.as_mut()
            && let Poll::Ready(response) = work.as_mut().poll(cx)
        {
            self.response = Some(response);
            // Dropping the call closes the channel, so that the rest of the queue can be drained.
            self.work = None;
        }
        match self.notices.poll_recv(cx) {
            Poll::Ready(Some(notice)) => Poll::Ready(Some(Message::notification(notice.into_notification()))),
            // A call that dropped its sender sends no more notifications, but may still be running.
            Poll::Ready(None) | Poll::Pending if self.work.is_some() => Poll::Pending,
            Poll::Ready(None) | Poll::Pending => Poll::Ready(self.response.take()),
        }
    }
}
