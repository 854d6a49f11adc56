//! What the servers have in common that tests talk to: a connection, a request, an answer.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Answers whatever comes, until it is called off.
pub(crate) async fn serve<A>(
    listener: TcpListener,
    answer: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) where
    A: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    while let Ok((stream, _)) = listener.accept().await {
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answer = answer(request);
            async { Ok::<_, Infallible>(answer.await) }
        });
        tokio::spawn(async move {
            // How a connection ended is seen by whoever asked.
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
