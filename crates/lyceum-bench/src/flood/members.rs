//! The members' workload: each calls `get_skill`, sometimes with a long message, then `report_usage`, which is audited,
//! and occasionally requests tokens.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::stage::Stage;
use crate::connection::Connection;
use crate::modern;
use lyceum_harness::exchange::{self, Request};

/// Number of members.
pub(super) const COUNT: usize = 10;

/// Pause between calls.
const THINK_TIME: Duration = Duration::from_millis(20);

/// Every n-th call writes, is long, or is followed by a token request.
const WRITE_INTERVAL: u32 = 5;
const LONG_MESSAGE_INTERVAL: u32 = 7;
const TOKEN_INTERVAL: u32 = 50;

/// Size of a long message, in bytes.
const LONG_MESSAGE_BYTES: usize = 100_000;

/// Results of the workload.
#[derive(Default)]
pub(super) struct MemberStats {
    /// Latency of each call, in milliseconds.
    pub(super) times: Vec<f64>,
    /// Number of successful writing calls.
    pub(super) writes: usize,
    /// Error messages.
    pub(super) errors: Vec<String>,
}

/// Runs all members for a time.
pub(super) fn work(stage: &Stage, time: Duration) -> Result<MemberStats> {
    let deadline = Instant::now() + time;
    let one = |(member, authorization): (usize, &String)| {
        let (addr, authorization) = (stage.server.addr, authorization.clone());
        thread::spawn(move || work_until(addr, member, &authorization, deadline))
    };
    let threads: Vec<_> = stage.members.iter().enumerate().map(one).collect();
    let mut all = MemberStats::default();
    for thread in threads {
        let work = thread.join().ok().context("a member panicked")?;
        all.times.extend(work.times);
        all.writes += work.writes;
        all.errors.extend(work.errors);
    }
    Ok(all)
}

fn work_until(addr: SocketAddr, member: usize, authorization: &str, deadline: Instant) -> MemberStats {
    let [find, report] = [
        ("get_skill", json!({ "context": "alpha beta" })),
        ("report_usage", json!({ "skill_path": "alpha", "useful": true })),
    ]
    .map(|(tool, arguments)| {
        let mut request =
            modern::post("application/json, text/event-stream", &modern::call(1, tool, &arguments));
        request.headers.push(("Authorization", authorization.to_owned()));
        request.headers.push(("X-Forwarded-For", format!("203.0.113.{member}")));
        request
    });
    let mut long = find.clone();
    long.body.push_str(&" ".repeat(LONG_MESSAGE_BYTES));
    let (mut work, mut connection) = (MemberStats::default(), None);
    for number in 1.. {
        if Instant::now() >= deadline {
            break;
        }
        let is_write = number % WRITE_INTERVAL == 0;
        let started = Instant::now();
        let request = match number {
            _ if is_write => &report,
            _ if number % LONG_MESSAGE_INTERVAL == 0 => &long,
            _ => &find,
        };
        match call(addr, &mut connection, request) {
            Ok(()) => {
                work.times.push(started.elapsed().as_secs_f64() * 1000.0);
                work.writes += usize::from(is_write);
            }
            Err(error) => {
                connection = None;
                work.errors.push(format!("{error:#}"));
            }
        }
        if number % TOKEN_INTERVAL == 0
            && let Err(error) = request_tokens(addr, member)
        {
            work.errors.push(format!("{error:#}"));
        }
        thread::sleep(THINK_TIME);
    }
    work
}

/// Sends an invalid refresh token, which must be rejected as invalid, never rate limited.
fn request_tokens(addr: SocketAddr, member: usize) -> Result<()> {
    let headers = vec![
        ("Content-Type", "application/x-www-form-urlencoded".to_owned()),
        ("X-Forwarded-For", format!("203.0.113.{member}")),
    ];
    let body = "grant_type=refresh_token&client_id=x&refresh_token=x".to_owned();
    let request = Request { method: "POST", path: "/token".into(), headers, body };
    let response = exchange::send(addr, &request)?;
    ensure!(
        [400, 401, 404].contains(&response.status),
        "/token returned {}: {}",
        response.status,
        response.body
    );
    Ok(())
}

fn call(addr: SocketAddr, connection_slot: &mut Option<Connection>, request: &Request) -> Result<()> {
    let connection = match connection_slot {
        Some(connection) => connection,
        None => connection_slot.insert(Connection::open(addr)?),
    };
    let body = connection.exchange(request)?;
    ensure!(!body.contains("\"isError\":true") && body.contains("\"result\""), "not a result: {body}");
    Ok(())
}
