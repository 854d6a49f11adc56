//! A keep-alive HTTP/1.1 connection, one request at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use lyceum_harness::exchange::{Request, Response};

/// I/O timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// A keep-alive connection.
pub(super) struct Connection {
    addr: SocketAddr,
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

/// The head of a response.
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

impl Connection {
    pub(super) fn open(addr: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&addr, READ_TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.set_write_timeout(Some(READ_TIMEOUT))?;
        Ok(Self { addr, stream: BufReader::with_capacity(64 * 1024, stream), body: Vec::new() })
    }

    /// Sends a request and returns the body of the response, which must be a 200.
    pub(super) fn exchange(&mut self, request: &Request) -> Result<&str> {
        let Head { status, .. } = self.send_and_read(request)?;
        let body = self.body()?;
        ensure!(status == 200, "expected status 200, got {status}: {body}");
        Ok(body)
    }

    /// Sends a request and returns the response, whatever its status.
    pub(super) fn send(&mut self, request: &Request) -> Result<Response> {
        let Head { status, headers } = self.send_and_read(request)?;
        Ok(Response { status, headers, body: self.body()?.to_owned() })
    }

    fn body(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).context("the response is not UTF-8")
    }

    fn send_and_read(&mut self, request: &Request) -> Result<Head> {
        let Request { method, path, headers, body } = request;
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (host, length) = (self.addr, body.len());
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.stream.get_mut().write_all(text.as_bytes())?;
        let head = self.head()?;
        let length = head.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length =
            length.and_then(|(_, value)| value.parse().ok()).filter(|length| *length <= MAX_RESPONSE_BYTES);
        self.body.resize(length.context("the response has no valid content length")?, 0);
        self.stream.read_exact(&mut self.body)?;
        Ok(head)
    }

    fn head(&mut self) -> Result<Head> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.with_context(|| format!("not an HTTP response: {line:?}"))?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                None => break,
                Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            }
        }
        Ok(Head { status, headers })
    }
}
