//! What goes back: one message, or a stream of notices that ends with it.

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
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use tokio::sync::mpsc;

use super::Notice;

/// One message to the client.
pub type Message = ServerJsonRpcMessage;

/// What goes back for one request.
pub enum Reply {
    /// The request never got as far as its method: it is malformed, or of a version or method that is not spoken.
    Refused(Box<Message>),
    /// The answer, at once.
    One(Box<Message>),
    /// Notices, and the answer as the last message.
    Stream(BoxStream<'static, Message>),
}

impl Reply {
    pub(crate) fn refused(error: ErrorData, id: Option<RequestId>) -> Self {
        Self::Refused(Box::new(Message::error(error, id)))
    }

    /// Waits for work that may report, and streams only when it has something to say before it ends.
    pub(crate) async fn of_work(work: BoxFuture<'static, Message>, notices: mpsc::Receiver<Notice>) -> Self {
        let mut working = CallStream { work: Some(work), notices, answer: None };
        match working.next().await {
            Some(first) if matches!(first, Message::Notification(_)) => {
                Self::Stream(stream::once(async { first }).chain(working).boxed())
            }
            Some(answer) => Self::One(Box::new(answer)),
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

/// An answer, or the error in its place.
pub(crate) fn message(result: Result<ServerResult, ErrorData>, id: RequestId) -> Message {
    match result {
        Ok(result) => Message::response(result, id),
        Err(error) => Message::error(error, Some(id)),
    }
}

/// Work under way: yields its notices as they come, all of them before the answer.
struct CallStream {
    work: Option<BoxFuture<'static, Message>>,
    notices: mpsc::Receiver<Notice>,
    answer: Option<Message>,
}

impl Stream for CallStream {
    type Item = Message;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        if self.work.is_none() && self.answer.is_none() {
            // The answer was the last message, even if something the work left behind still has notices to send.
            return Poll::Ready(None);
        }
        if let Some(work) = self.work.as_mut()
            && let Poll::Ready(answer) = work.as_mut().poll(cx)
        {
            self.answer = Some(answer);
            // Dropping the work closes the channel, so that what is left in it can be read to its end.
            self.work = None;
        }
        match self.notices.poll_recv(cx) {
            Poll::Ready(Some(notice)) => Poll::Ready(Some(Message::notification(notice.into_notification()))),
            // Work that has let go of its channel has nothing more to report, but may still be under way.
            Poll::Ready(None) | Poll::Pending if self.work.is_some() => Poll::Pending,
            Poll::Ready(None) | Poll::Pending => Poll::Ready(self.answer.take()),
        }
    }
}
