//! The same call on a server that is open and on one with sign-in, with a token and without, in turn.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::modern;
use crate::wrk::{self, Measured};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// How long each is loaded before the first round, unmeasured.
const WARM_UP: Duration = Duration::from_secs(1);

const ACCEPT: &str = "application/json, text/event-stream";

/// What was found, round by round.
pub(super) struct LoadResults {
    pub(super) open: Vec<Measured>,
    pub(super) with_token: Vec<Measured>,
    pub(super) without_token: Vec<Measured>,
}

/// One that is loaded.
struct Contender<'a> {
    name: &'static str,
    server: &'a Server,
    request: Request,
    place: usize,
    measured: Vec<Measured>,
}

/// Loads each in turn, round after round.
pub(super) fn measure(
    open: &Server,
    gated: &Server,
    token: &str,
    scratch: &Scratch,
    rounds: u32,
    time: Duration,
) -> Result<LoadResults> {
    token_counts(gated, token)?;
    let mut all = vec![
        Contender::new(0, "open", open, call(None))?,
        Contender::new(1, "with a token", gated, call(Some(token)))?,
        Contender::new(2, "without a token", gated, call(None))?,
    ];
    for one in &all {
        one.load(scratch, WARM_UP)?;
    }
    for round in 1..=rounds {
        // Whoever comes after a slow one finds another machine than whoever comes after a fast one: in six rounds there is
        // each order once.
        let first = usize::from(round % 2 == 0);
        all.swap(first, first + 1);
        for one in &mut all {
            let measured = one.load(scratch, time)?;
            println!("round {round}: {:<16} {:>8.0} req/s", one.name, measured.per_second());
            one.measured.push(measured);
        }
    }
    all.sort_by_key(|one| one.place);
    let mut measured = all.into_iter().map(|one| one.measured);
    let mut next = || measured.next().unwrap_or_default();
    Ok(LoadResults { open: next(), with_token: next(), without_token: next() })
}

impl<'a> Contender<'a> {
    /// Checks that the answer is right.
    fn new(place: usize, name: &'static str, server: &'a Server, request: Request) -> Result<Self> {
        let answer = exchange::send(server.addr, &request)?;
        let is_right = serde_json::from_str::<Value>(&answer.body)
            .is_ok_and(|body| body.pointer("/result/structuredContent").is_some_and(Value::is_object));
        ensure!(answer.status == 200 && is_right, "{name}: status {}: {}", answer.status, answer.body);
        Ok(Self { name, server, request, place, measured: Vec::new() })
    }

    fn load(&self, scratch: &Scratch, time: Duration) -> Result<Measured> {
        let measured = wrk::load(self.server.addr, &self.request, scratch.path(), time);
        let measured = measured.with_context(|| format!("{} can't be measured", self.name))?;
        self.server.forget_log()?;
        Ok(measured)
    }
}

/// A call of a tool that does next to nothing.
fn call(token: Option<&str>) -> Request {
    let mut request = modern::post(ACCEPT, &modern::call(1, "server_info", &json!({})));
    request.headers.extend(token.map(|token| ("Authorization", format!("Bearer {token}"))));
    request
}

/// One with another last digit is refused: so the token is looked at.
fn token_counts(gated: &Server, token: &str) -> Result<()> {
    let mut other = token.to_owned();
    let last = other.pop();
    other.push(if last == Some('0') { '1' } else { '0' });
    let status = exchange::send(gated.addr, &call(Some(&other)))?.status;
    ensure!(status == 401, "a token that nobody gave out is answered with {status}");
    Ok(())
}
