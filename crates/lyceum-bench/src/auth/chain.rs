//! A fake JSON-RPC endpoint for both chains, which replies at once and measures how long it was busy.
//!
//! Every account is a contract that accepts every signature, wears every hat and has no ENS name. The path selects the
//! chain: `/1` or `/10`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Timeout for the next request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum size of a request.
const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// The ENS resolver.
const RESOLVER: &str = "0xeeeeeeee14d718c2b47d9923deab1335e144eeee";

/// The fake chains, running until this program ends.
pub(super) struct Chain {
    pub(super) addr: SocketAddr,
    busy: Arc<Mutex<Busy>>,
}

/// Time with at least one request in flight, and the number of requests.
#[derive(Default)]
struct Busy {
    total: Duration,
    since: Option<Instant>,
    in_flight: usize,
    requests: usize,
}

impl Chain {
    /// Starts the server.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
        let chain = Self { addr: listener.local_addr()?, busy: Arc::default() };
        let busy = chain.busy.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let busy = busy.clone();
                // The client notices a broken connection.
                thread::spawn(move || serve_connection(stream, &busy));
            }
        });
        Ok(chain)
    }

    /// Busy time and number of requests so far.
    pub(super) fn stats(&self) -> (Duration, usize) {
        let busy = lock(&self.busy);
        (busy.total, busy.requests)
    }
}

impl Busy {
    fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        self.in_flight += 1;
        self.requests += 1;
    }

    fn end(&mut self) {
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.total += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

fn lock(busy: &Mutex<Busy>) -> MutexGuard<'_, Busy> {
    busy.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve_connection(stream: TcpStream, busy: &Mutex<Busy>) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut stream = BufReader::new(stream);
    while let Some((path, length)) = head(&mut stream)? {
        lock(busy).begin();
        let served = serve_request(&mut stream, &path, length);
        lock(busy).end();
        served?;
    }
    Ok(())
}

fn serve_request(stream: &mut BufReader<TcpStream>, path: &str, length: usize) -> Result<()> {
    ensure!(length <= MAX_REQUEST_BYTES, "a request of {length} bytes");
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let body = response(path, &serde_json::from_slice(&body)?).to_string();
    let length = body.len();
    let text = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    Ok(stream.get_mut().write_all(text.as_bytes())?)
}

/// Path and body length of the next request; `None` at the end of the connection.
fn head(stream: &mut impl BufRead) -> Result<Option<(String, usize)>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let Some(path) = line.split(' ').nth(1).map(str::to_owned) else { return Ok(None) };
    let mut length = None;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok();
            }
            Some(_) => {}
        }
    }
    Ok(Some((path, length.context("a request without a content length")?)))
}

fn response(path: &str, request: &Value) -> Value {
    let call = request.pointer("/params/0");
    let to = call.and_then(|call| call.get("to")?.as_str());
    let outcome = match request.get("method").and_then(Value::as_str) {
        Some("eth_chainId") => {
            let id: u64 = path.trim_start_matches('/').parse().unwrap_or_default();
            Ok(format!("{id:#x}"))
        }
        Some("eth_call") => match to {
            // Our validator code, which checks a contract signature: EIP-1271.
            None => Ok(format!("0x1626ba7e{:056}", 0)),
            Some(to) if to.eq_ignore_ascii_case(RESOLVER) => Err("execution reverted"),
            Some(_) => Ok(format!("{:#066x}", 1)),
        },
        _ => Err("no such method"),
    };
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": request.get("id"), "result": result }),
        Err(message) => {
            json!({ "jsonrpc": "2.0", "id": request.get("id"), "error": { "code": 3, "message": message } })
        }
    }
}

#[cfg(test)]
mod tests;
