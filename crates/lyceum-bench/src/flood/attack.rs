//! The attacks: each connection repeats one kind of attack as fast as the server replies.

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

/// Body limit of anonymous clients: `limits.anonymous_body_bytes`.
const ANONYMOUS_BODY_BYTES: usize = 256 * 1024;

/// Timeout of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// A kind of attack.
#[derive(Clone, Copy)]
enum Attack {
    /// Calls a writing tool, with valid and invalid arguments.
    Write,
    /// Opens sessions with long client names, and repeats the `initialized` notification.
    Handshake,
    /// Subscribes to existing and unknown resources, with a message of the maximum size.
    Subscribe,
    /// Sends a body of the maximum size without its last byte.
    Stall,
    /// Guesses tokens.
    Guess,
    /// Names a client metadata document on a host that never replies.
    Document,
}

/// Running attackers.
pub(super) struct Attackers {
    stop: Arc<AtomicBool>,
    attempts: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Attackers {
    /// Stops all attackers; returns the number of attempts.
    pub(super) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // A panic is printed by the runtime and only reduces the load.
            let _ended = thread.join();
        }
        self.attempts.load(Ordering::Relaxed)
    }
}

/// Starts `count` attackers, spread over the kinds of attack.
pub(super) fn start(stage: &Stage, count: usize) -> Attackers {
    let attacks: &[Attack] = match stage.mode {
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
    let payloads = Arc::new(payloads());
    let one = |(number, attack): (usize, &Attack)| {
        let (stop, attempts) = (stop.clone(), attempts.clone());
        let (addr, silent, mode) = (stage.server.addr, stage.silent, stage.mode);
        let attacker = Attacker { addr, silent, number, mode, payloads: payloads.clone() };
        let attack = *attack;
        thread::spawn(move || {
            for attempt in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                // Attackers expect to be disconnected.
                let _refused = attacker.attack(attack, attempt, &stop);
                attempts.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let threads = (0..count).zip(attacks.iter().cycle()).map(one).collect();
    Attackers { stop, attempts, threads }
}

struct Attacker {
    addr: SocketAddr,
    silent: SocketAddr,
    number: usize,
    mode: Mode,
    payloads: Arc<Payloads>,
}

/// Payloads built once, so that attackers use little CPU.
struct Payloads {
    subscription: Request,
    body: String,
}

fn payloads() -> Payloads {
    let unknown = (0..30).map(|number| format!("skill://{}{number}", "x".repeat(8000)));
    let addresses: Vec<_> = ["skill://gamma/SKILL.md".to_owned()].into_iter().chain(unknown).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": addresses } });
    let message = modern::request(1, "subscriptions/listen", &params);
    Payloads {
        subscription: modern::post("text/event-stream", &message),
        body: "x".repeat(ANONYMOUS_BODY_BYTES - 1),
    }
}

impl Attacker {
    fn attack(&self, attack: Attack, attempt: u64, stop: &AtomicBool) -> Result<()> {
        match attack {
            Attack::Write => self.write(stop),
            Attack::Handshake => self.handshake(stop),
            Attack::Subscribe => self.subscribe(),
            Attack::Stall => self.stall(),
            Attack::Guess => self.guess(attempt, stop),
            Attack::Document => self.document(attempt),
        }
    }

    /// The forwarded address, from the benchmarking range 198.18.0.0/15.
    fn forwarded_for(&self) -> (&'static str, String) {
        ("X-Forwarded-For", format!("198.18.{}.{}", self.number / 250, self.number % 250 + 1))
    }

    fn post(&self, path: &str, body: String) -> Request {
        let headers = vec![("Content-Type", "application/json".to_owned()), self.forwarded_for()];
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
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let mut request = self.post("/mcp", initialized.to_string());
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
        let Request { headers, body, .. } = &self.payloads.subscription;
        hold(self.send("/mcp", &[&headers[..], &[self.forwarded_for()]].concat(), body, body.len())?)
    }

    fn stall(&self) -> Result<()> {
        let (headers, body) = (self.post("/mcp", String::new()).headers, &self.payloads.body);
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
                Mode::GithubPat => github::invalid_authorization(number),
            };
            let mut request = Request::get("/tools");
            request.headers.extend([self.forwarded_for(), ("Authorization", token)]);
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
        request.headers.push(self.forwarded_for());
        Connection::open(self.addr)?.send(&request).map(|_| ())
    }

    /// Sends a request with this content length.
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

/// Holds a connection open until the attempt's timeout, discarding what it reads.
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
