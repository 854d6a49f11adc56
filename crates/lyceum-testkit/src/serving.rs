//! The HTTP server of the fakes.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Serves all requests with a handler, until it is aborted.
pub(crate) async fn serve<A>(
    listener: TcpListener,
    handler: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) where
    A: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    while let Ok((stream, _)) = listener.accept().await {
        let handler = handler.clone();
        let service = service_fn(move |request| {
            let response = handler(request);
            async { Ok::<_, Infallible>(response.await) }
        });
        tokio::spawn(async move {
            // The client sees how a connection ended.
            let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
