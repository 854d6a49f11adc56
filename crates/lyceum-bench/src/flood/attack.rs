//! What strangers do: each connection attacks in one way, again and again, as fast as it is answered.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;

use super::github;
use super::stage::{Mode, Stage};
use crate::connection::Connection;
use crate::modern;
use lyceum_harness::exchange::Request;

/// What strangers may send at most: `limits.anonymous_body_bytes`.
const ANONYMOUS_BODY_BYTES: usize = 256 * 1024;

/// The longest that one attempt takes.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// A way to attack.
#[derive(Clone, Copy)]
enum Attack {
    /// Calls a tool that writes, with and without good arguments.
    Write,
    /// Opens sessions with long names, and says again and again that it is ready.
    Handshake,
    /// Subscribes to what there is and to what there is not, with as large a message as strangers may send.
    Subscribe,
    /// Sends as much as strangers may, but for the last byte.
    Stall,
    /// Makes tokens up.
    Guess,
    /// Is a client whose document is at a host that never answers.
    Document,
}

/// Connections that attack until they are stopped.
pub(super) struct Attackers {
    stop: Arc<AtomicBool>,
    attempts: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Attackers {
    /// Stops them; how many attempts there were.
    pub(super) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // One that panicked has attacked less; its panic is on the screen.
            let _ended = thread.join();
        }
        self.attempts.load(Ordering::Relaxed)
    }
}

/// Starts so many, a share for each way.
pub(super) fn start(stage: &Stage, count: usize) -> Attackers {
    let ways: &[Attack] = match stage.mode {
        Mode::Oauth => &[
            Attack::Write,
            Attack::Handshake,
            Attack::Subscribe,
            Attack::Stall,
            Attack::Guess,
            Attack::Document,
        ],
        Mode::GithubPat => &[Attack::Guess, Attack::Guess, Attack::Write, Attack::Handshake],
    };
    let (stop, attempts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let large = Arc::new(large());
    let one = |(number, way): (usize, &Attack)| {
        let (stop, attempts) = (stop.clone(), attempts.clone());
        let (addr, silent, mode) = (stage.server.addr, stage.silent, stage.mode);
        let attacker = Attacker { addr, silent, number, mode, large: large.clone() };
        let way = *way;
        thread::spawn(move || {
            for attempt in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // To be cut off is what an attacker expects.
                let _refused = attacker.attack(way, attempt, &stop);
                attempts.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let threads = (0..count).zip(ways.iter().cycle()).map(one).collect();
    Attackers { stop, attempts, threads }
}

struct Attacker {
    addr: SocketAddr,
    silent: SocketAddr,
    number: usize,
    mode: Mode,
    large: Arc<Payloads>,
}

/// What is made once, so that attackers cost this machine no more than sending it does.
struct Payloads {
    subscription: Request,
    body: String,
}

fn large() -> Payloads {
    let made_up = (0..30).map(|number| format!("skill://{}{number}", "x".repeat(8000)));
    let addresses: Vec<_> = ["skill://gamma/SKILL.md".to_owned()].into_iter().chain(made_up).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": addresses } });
    let message = modern::request(1, "subscriptions/listen", &params);
    Payloads {
        subscription: modern::post("text/event-stream", &message),
        body: "x".repeat(ANONYMOUS_BODY_BYTES - 1),
    }
}

impl Attacker {
    fn attack(&self, way: Attack, attempt: u64, stop: &AtomicBool) -> Result<()> {
        match way {
            Attack::Write => self.write(stop),
            Attack::Handshake => self.handshake(stop),
            Attack::Subscribe => self.subscribe(),
            Attack::Stall => self.stall(),
            Attack::Guess => self.guess(attempt, stop),
            Attack::Document => self.document(attempt),
        }
    }

    /// The address that the proxy says: one of 198.18.0.0/15, which nobody has.
    fn from(&self) -> (&'static str, String) {
        ("X-Forwarded-For", format!("198.18.{}.{}", self.number / 250, self.number % 250 + 1))
    }

    fn post(&self, path: &str, body: String) -> Request {
        let headers = vec![("Content-Type", "application/json".to_owned()), self.from()];
        Request { method: "POST", path: path.to_owned().into(), headers, body }
    }

    fn write(&self, stop: &AtomicBool) -> Result<()> {
        let mut connection = Connection::open(self.addr)?;
        let arguments = json!({ "skill_path": "alpha", "useful": false, "comment": "x".repeat(4000) });
        let bodies = ["{}".to_owned(), json!({ "arguments": arguments }).to_string()];
        for body in bodies.iter().cycle().take(1000) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            connection.send(&self.post("/tools/report_usage/call", body.clone()))?;
        }
        Ok(())
    }

    fn handshake(&self, stop: &AtomicBool) -> Result<()> {
        let mut connection = Connection::open(self.addr)?;
        let accept = ("Accept", "application/json, text/event-stream".to_owned());
        let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "x".repeat(15_000), "version": "1" } } });
        let mut request = self.post("/mcp", initialize.to_string());
        request.headers.push(accept.clone());
        let mut stream = self.send(&request.path, &request.headers, &request.body, request.body.len())?;
        let mut head = [0; 4096];
        let length = stream.read(&mut head)?;
        let head = String::from_utf8_lossy(head.get(..length).unwrap_or_default()).to_lowercase();
        let session = head.split("mcp-session-id: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let session = session.context("no session")?.to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let mut request = self.post("/mcp", ready.to_string());
        request.headers.extend([
            accept,
            ("Mcp-Session-Id", session),
            ("MCP-Protocol-Version", "2025-11-25".to_owned()),
        ]);
        for _ in 0..200 {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            connection.send(&request)?;
        }
        Ok(())
    }

    fn subscribe(&self) -> Result<()> {
        let Request { headers, body, .. } = &self.large.subscription;
        hold(self.send("/mcp", &[&headers[..], &[self.from()]].concat(), body, body.len())?)
    }

    fn stall(&self) -> Result<()> {
        let (headers, body) = (self.post("/mcp", String::new()).headers, &self.large.body);
        hold(self.send("/mcp", &headers, body, body.len() + 1)?)
    }

    fn guess(&self, attempt: u64, stop: &AtomicBool) -> Result<()> {
        let mut connection = Connection::open(self.addr)?;
        for number in 0..1000 {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let number = (self.number as u64) << 40 | attempt << 20 | number;
            let token = match self.mode {
                Mode::Oauth => format!("Bearer lyc_at_{number:043}"),
                Mode::GithubPat => github::made_up(number),
            };
            let mut request = Request::get("/tools");
            request.headers.extend([self.from(), ("Authorization", token)]);
            connection.send(&request)?;
        }
        Ok(())
    }

    fn document(&self, attempt: u64) -> Result<()> {
        let (port, number) = (self.silent.port(), self.number);
        let mut request = Request::get(format!(
            "/authorize?response_type=code&client_id=https%3A%2F%2Flocalhost%3A{port}%2F{number}%2F{attempt}\
             &redirect_uri=https%3A%2F%2Flocalhost%2Fcb&code_challenge={}&code_challenge_method=S256",
            "a".repeat(43)
        ));
        request.headers.push(self.from());
        Connection::open(self.addr)?.send(&request).map(|_| ())
    }

    /// Sends a request that says it has so many bytes.
    fn send(&self, path: &str, headers: &[(&str, String)], body: &str, length: usize) -> Result<TcpStream> {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let addr = self.addr;
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {addr}\r\nContent-Length: {length}\r\n{headers}\r\n");
        let mut stream = TcpStream::connect_timeout(&addr, ATTEMPT_TIMEOUT)?;
        stream.set_read_timeout(Some(ATTEMPT_TIMEOUT))?;
        stream.set_write_timeout(Some(ATTEMPT_TIMEOUT))?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        Ok(stream)
    }
}

/// Keeps a connection open for a while, and reads whatever comes.
fn hold(mut stream: TcpStream) -> Result<()> {
    let (started, mut buffer) = (Instant::now(), vec![0; 64 * 1024]);
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    while started.elapsed() < ATTEMPT_TIMEOUT {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
