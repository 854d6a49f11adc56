//! One HTTP/1.1 request and its response, on a connection of its own.
//!
//! Just enough for our servers on loopback, without an HTTP stack to build.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Timeout of a whole exchange.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(10);

/// A request; `Host`, `Content-Length` and `Connection` are added when it is sent.
#[derive(Clone)]
pub struct Request {
    /// Method, such as `POST`.
    pub method: &'static str,
    /// Path and query.
    pub path: Cow<'static, str>,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// May be empty.
    pub body: String,
}

impl Request {
    /// A GET request.
    pub fn get(path: impl Into<Cow<'static, str>>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: String::new() }
    }
}

/// A complete response.
pub struct Response {
    /// Status code, such as 200.
    pub status: u16,
    /// The body, with its chunks joined.
    pub body: String,
    /// In the order received.
    pub headers: Vec<(String, String)>,
}

impl Response {
    /// The value of a header; names are case-insensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Sends a request and reads the response until the server closes the connection.
pub fn send(addr: SocketAddr, request: &Request) -> Result<Response> {
    let until = Instant::now() + EXCHANGE_TIMEOUT;
    let mut stream = TcpStream::connect_timeout(&addr, EXCHANGE_TIMEOUT)
        .with_context(|| format!("could not reach {addr}"))?;
    stream.set_write_timeout(Some(EXCHANGE_TIMEOUT))?;
    stream.write_all(head_and_body(addr, request).as_bytes())?;
    let bytes = read_until(&mut stream, until)
        .with_context(|| format!("no complete response from {addr} within {EXCHANGE_TIMEOUT:?}"))?;
    parse(&bytes)
        .with_context(|| format!("invalid HTTP response from {addr}: {}", String::from_utf8_lossy(&bytes)))
}

/// Reads to the end. The timeout is for the whole exchange: an event stream can stay alive with comments forever.
fn read_until(stream: &mut TcpStream, until: Instant) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        ensure!(!left.is_zero(), "incomplete after {} bytes", bytes.len());
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend(buffer.iter().take(count));
    }
}

fn head_and_body(addr: SocketAddr, request: &Request) -> String {
    let Request { method, path, headers, body } = request;
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
}

fn parse(bytes: &[u8]) -> Option<Response> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    let mut response = Response { status, body: body.to_owned(), headers };
    if response.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        response.body = unchunk(body)?;
    }
    Some(response)
}

/// Joins the chunks of a body: each is its length in hexadecimal and its text; a length of zero ends them.
fn unchunk(mut rest: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(after.get(..size)?);
        rest = after.get(size..)?.strip_prefix("\r\n")?;
    }
}

#[cfg(test)]
mod tests;
