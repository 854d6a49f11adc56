//! One HTTP/1.1 request and its answer, on a connection of its own.
//!
//! Just enough to ask our servers on loopback whether they answer rightly, without an HTTP stack to build.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// The longest wait for a whole answer.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(10);

/// A request; `Host`, `Content-Length` and `Connection` are added when it is sent.
#[derive(Clone)]
pub struct Request {
    /// Such as `POST`.
    pub method: &'static str,
    /// Where it goes, with its query.
    pub path: Cow<'static, str>,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Empty where nothing is sent.
    pub body: String,
}

impl Request {
    /// A request to read what is at a path.
    pub fn get(path: impl Into<Cow<'static, str>>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: String::new() }
    }
}

/// An answer, read to its end.
pub struct Response {
    /// Such as 200.
    pub status: u16,
    /// Whole, with its chunks joined.
    pub body: String,
    /// In the order they came.
    pub headers: Vec<(String, String)>,
}

impl Response {
    /// The value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Sends a request and reads the answer until the server closes the connection.
pub fn send(addr: SocketAddr, request: &Request) -> Result<Response> {
    let until = Instant::now() + EXCHANGE_TIMEOUT;
    let mut stream = TcpStream::connect_timeout(&addr, EXCHANGE_TIMEOUT)
        .with_context(|| format!("could not reach {addr}"))?;
    stream.set_write_timeout(Some(EXCHANGE_TIMEOUT))?;
    stream.write_all(head_and_body(addr, request).as_bytes())?;
    let bytes = read_until(&mut stream, until)
        .with_context(|| format!("no whole answer from {addr} within {EXCHANGE_TIMEOUT:?}"))?;
    parse(&bytes)
        .with_context(|| format!("{addr} did not answer in HTTP: {}", String::from_utf8_lossy(&bytes)))
}

/// Reads to the end. The limit is for the whole: an event stream can stay alive with comments for ever.
fn read_until(stream: &mut TcpStream, until: Instant) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        ensure!(!left.is_zero(), "{} bytes came, but not the end", bytes.len());
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
    let mut answer = Response { status, body: body.to_owned(), headers };
    if answer.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        answer.body = unchunk(body)?;
    }
    Some(answer)
}

/// Joins the chunks of a body: each is its length in hexadecimal, its text, and an empty length ends them.
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
