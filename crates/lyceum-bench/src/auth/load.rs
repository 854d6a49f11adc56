//! The same call on an open server and on one with sign-in, with and without a token, interleaved.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::modern;
use crate::wrk::{self, Measured};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// Unmeasured load before the first round.
const WARM_UP: Duration = Duration::from_secs(1);

const ACCEPT: &str = "application/json, text/event-stream";

/// Results by round.
pub(super) struct LoadResults {
    pub(super) open: Vec<Measured>,
    pub(super) with_token: Vec<Measured>,
    pub(super) without_token: Vec<Measured>,
}

/// A server and the request to load it with.
struct Contender<'a> {
    name: &'static str,
    server: &'a Server,
    request: Request,
    position: usize,
    measured: Vec<Measured>,
}

/// Loads all contenders in each round.
pub(super) fn measure(
    open: &Server,
    gated: &Server,
    token: &str,
    scratch: &Scratch,
    rounds: u32,
    time: Duration,
) -> Result<LoadResults> {
    check_tokens_are_validated(gated, token)?;
    let mut all = vec![
        Contender::new(0, "open", open, call(None))?,
        Contender::new(1, "with a token", gated, call(Some(token)))?,
        Contender::new(2, "without a token", gated, call(None))?,
    ];
    for one in &all {
        one.load(scratch, WARM_UP)?;
    }
    for round in 1..=rounds {
        // The order affects the results, because a load leaves the machine in another state: six rounds cover every
        // order once.
        let first = usize::from(round % 2 == 0);
        all.swap(first, first + 1);
        for one in &mut all {
            let measured = one.load(scratch, time)?;
            println!("round {round}: {:<16} {:>8.0} req/s", one.name, measured.per_second());
            one.measured.push(measured);
        }
    }
    all.sort_by_key(|one| one.position);
    let mut measured = all.into_iter().map(|one| one.measured);
    let mut next = || measured.next().unwrap_or_default();
    Ok(LoadResults { open: next(), with_token: next(), without_token: next() })
}

impl<'a> Contender<'a> {
    /// Checks that the server's response is correct.
    fn new(position: usize, name: &'static str, server: &'a Server, request: Request) -> Result<Self> {
        let response = exchange::send(server.addr, &request)?;
        let is_valid = serde_json::from_str::<Value>(&response.body)
            .is_ok_and(|body| body.pointer("/result/structuredContent").is_some_and(Value::is_object));
        ensure!(response.status == 200 && is_valid, "{name}: status {}: {}", response.status, response.body);
        Ok(Self { name, server, request, position, measured: Vec::new() })
    }

    fn load(&self, scratch: &Scratch, time: Duration) -> Result<Measured> {
        let measured = wrk::load(self.server.addr, &self.request, scratch.path(), time);
        let measured = measured.with_context(|| format!("could not measure {}", self.name))?;
        self.server.truncate_log()?;
        Ok(measured)
    }
}

/// A call of a trivial tool.
fn call(token: Option<&str>) -> Request {
    let mut request = modern::post(ACCEPT, &modern::call(1, "server_info", &json!({})));
    request.headers.extend(token.map(|token| ("Authorization", format!("Bearer {token}"))));
    request
}

/// Checks that the server validates tokens: one with a changed last digit is rejected.
fn check_tokens_are_validated(gated: &Server, token: &str) -> Result<()> {
    let mut other = token.to_owned();
    let last = other.pop();
    other.push(if last == Some('0') { '1' } else { '0' });
    let status = exchange::send(gated.addr, &call(Some(&other)))?.status;
    ensure!(status == 401, "a forged token got status {status}");
    Ok(())
}
