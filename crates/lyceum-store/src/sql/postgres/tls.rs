//! TLS to Postgres: the same rustls as for HTTP, with the server's certificate verified.

use std::{
    fmt, io,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use crate::{DbError, DriverError};

/// TLS settings; `None` where TLS is off.
#[derive(Clone)]
pub(super) struct Tls(Option<Arc<ClientConfig>>);

/// TLS to one server; `None` where TLS is off, and this is not used.
pub(super) struct Connect(Option<(Arc<ClientConfig>, ServerName<'static>)>);

/// A TLS connection.
pub(super) struct Stream<S>(tokio_rustls::client::TlsStream<S>);

impl Tls {
    /// Verifies servers by these root certificates, or else by the system's.
    pub(super) fn new(ca_file: Option<&Path>) -> Result<Self, DbError> {
        let unusable = |error: &dyn std::error::Error| DbError::Address(DriverError::new(error));
        let roots = ca_file.map(std::fs::read).transpose().map_err(|error| unusable(&error))?;
        let config = lyceum_net::tls_config(roots.as_deref()).map_err(|error| unusable(&error))?;
        Ok(Self(Some(Arc::new(config))))
    }

    /// For addresses with `sslmode=disable`.
    pub(super) fn unused() -> Self {
        Self(None)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Stream<S>;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Connect, io::Error> {
        let Some(config) = self.0.clone() else { return Ok(Connect(None)) };
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        Ok(Connect(Some((config, name))))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connect {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = BoxFuture<'static, Result<Stream<S>, io::Error>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let (config, name) = self.0.ok_or_else(|| io::Error::other("TLS is off"))?;
            TlsConnector::from(config).connect(name, stream).await.map(Stream)
        })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
