//! Members at work: each finds a skill a few times, at times with a message that is long, then says whether it helped, which is in the
//! audit log; and now and then asks for tokens.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::stage::Stage;
use crate::connection::Connection;
use crate::modern;
use lyceum_harness::exchange::{self, Request};

/// How many there are.
pub(super) const COUNT: usize = 10;

/// How long one looks at an answer.
const THINK_TIME: Duration = Duration::from_millis(20);

/// Every so many calls one writes, one is long, and tokens are asked for.
const WRITE_INTERVAL: u32 = 5;
const LONG_MESSAGE_INTERVAL: u32 = 7;
const TOKEN_INTERVAL: u32 = 50;

/// How long a long message is, in bytes.
const LONG_MESSAGE_BYTES: usize = 100_000;

/// What came of it.
#[derive(Default)]
pub(super) struct MemberStats {
    /// How long each call took, in milliseconds.
    pub(super) times: Vec<f64>,
    /// How many calls that write were answered.
    pub(super) writes: usize,
    /// What went wrong.
    pub(super) errors: Vec<String>,
}

/// All members work for so long.
pub(super) fn work(stage: &Stage, time: Duration) -> Result<MemberStats> {
    let until = Instant::now() + time;
    let one = |(member, authorization): (usize, &String)| {
        let (addr, authorization) = (stage.server.addr, authorization.clone());
        thread::spawn(move || work_until(addr, member, &authorization, until))
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

fn work_until(addr: SocketAddr, member: usize, authorization: &str, until: Instant) -> MemberStats {
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
        if Instant::now() >= until {
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
            && let Err(error) = ask_for_tokens(addr, member)
        {
            work.errors.push(format!("{error:#}"));
        }
        thread::sleep(THINK_TIME);
    }
    work
}

/// Asks for tokens with an invalid refresh token, and must be told so, never that it is rate limited.
fn ask_for_tokens(addr: SocketAddr, member: usize) -> Result<()> {
    let headers = vec![
        ("Content-Type", "application/x-www-form-urlencoded".to_owned()),
        ("X-Forwarded-For", format!("203.0.113.{member}")),
    ];
    let body = "grant_type=refresh_token&client_id=x&refresh_token=x".to_owned();
    let request = Request { method: "POST", path: "/token".into(), headers, body };
    let answer = exchange::send(addr, &request)?;
    ensure!([400, 401, 404].contains(&answer.status), "/token answered {}: {}", answer.status, answer.body);
    Ok(())
}

fn call(addr: SocketAddr, kept: &mut Option<Connection>, request: &Request) -> Result<()> {
    let connection = match kept {
        Some(connection) => connection,
        None => kept.insert(Connection::open(addr)?),
    };
    let body = connection.exchange(request)?;
    ensure!(!body.contains("\"isError\":true") && body.contains("\"result\""), "not a result: {body}");
    Ok(())
}
