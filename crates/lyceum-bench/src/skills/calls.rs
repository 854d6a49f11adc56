//! `get_skill` over stdio and HTTP, each call followed by one of a trivial tool.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::answers::{self, Outcome};
use super::lyceum::LoggedServer;
use super::pipe::Pipe;
use super::{ACCEPT, milliseconds};
use crate::connection::Connection;
use crate::modern;

/// Timeout for the last log line.
const LOG_TIMEOUT: Duration = Duration::from_secs(10);

/// Latencies in milliseconds, in order.
#[derive(Default)]
pub(super) struct Times {
    pub(super) get_skill: Vec<f64>,
    /// A round trip with almost no work.
    pub(super) server_info: Vec<f64>,
}

/// Number of tasks by outcome.
#[derive(Default)]
pub(super) struct Outcomes {
    pub(super) matched: usize,
    pub(super) ambiguous: usize,
    pub(super) unmatched: usize,
}

impl Outcomes {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Match(_) => self.matched += 1,
            Outcome::Ambiguous => self.ambiguous += 1,
            Outcome::NoMatch => self.unmatched += 1,
        }
    }
}

/// Sends every task over stdio, sequentially.
pub(super) fn over_stdio(pipe: &mut Pipe, tasks: &[String], times: &mut Times) -> Result<Outcomes> {
    let mut outcomes = Outcomes::default();
    let info = modern::call(2, "server_info", &json!({})).to_string();
    for task in tasks {
        let get = modern::call(1, "get_skill", &json!({ "context": task })).to_string();
        let started = Instant::now();
        let response = pipe.exchange(&get)?;
        times.get_skill.push(milliseconds(started));
        outcomes.add(&answers::parse_get_skill(response)?);
        let started = Instant::now();
        pipe.exchange(&info)?;
        times.server_info.push(milliseconds(started));
    }
    Ok(outcomes)
}

/// Sends every task over one connection, sequentially; adds the server's own measurements to `inside`.
pub(super) fn over_http(
    logged: &LoggedServer,
    connection: &mut Connection,
    tasks: &[String],
    (outside, inside): (&mut Times, &mut Times),
) -> Result<Outcomes> {
    logged.server.truncate_log()?;
    let mut outcomes = Outcomes::default();
    let mut info = modern::post(ACCEPT, &modern::call(2, "server_info", &json!({})));
    info.headers.push(("X-Request-Id", String::new()));
    for (number, task) in tasks.iter().enumerate() {
        let mut get = modern::post(ACCEPT, &modern::call(1, "get_skill", &json!({ "context": task })));
        get.headers.push(("X-Request-Id", format!("get-{number}")));
        if let Some((_, id)) = info.headers.last_mut() {
            *id = format!("info-{number}");
        }
        let started = Instant::now();
        let response = connection.exchange(&get)?;
        outside.get_skill.push(milliseconds(started));
        outcomes.add(&answers::parse_get_skill(response)?);
        let started = Instant::now();
        connection.exchange(&info)?;
        outside.server_info.push(milliseconds(started));
    }
    let durations = durations(logged, tasks.len())?;
    for number in 0..tasks.len() {
        let of = |name: &str| durations.get(&format!("{name}-{number}")).copied();
        inside.get_skill.extend(of("get"));
        inside.server_info.extend(of("info"));
    }
    Ok(outcomes)
}

/// Durations from the server's log, by request id.
fn durations(logged: &LoggedServer, tasks: usize) -> Result<HashMap<String, f64>> {
    let started = Instant::now();
    let last = format!("\"info-{}\"", tasks.saturating_sub(1));
    while started.elapsed() < LOG_TIMEOUT {
        let log = fs::read_to_string(&logged.log).context("could not read the server's log")?;
        if log.lines().any(|line| line.contains(&last) && line.ends_with('}')) {
            return Ok(log.lines().filter_map(duration).collect());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("the last request is missing in the server's log")
}

fn duration(line: &str) -> Option<(String, f64)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let id = line.get("request_id")?.as_str()?.to_owned();
    Some((id, line.get("duration_ms")?.as_f64()?))
}

#[cfg(test)]
mod tests;
