//! Questions to a server: one after the other on one connection, or by many clients at once.

use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::workspace::Workspace;
use crate::connection::Connection;
use crate::figures::{median, quantile};
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::process;

/// How many clients there are when there are many.
pub(super) const CLIENTS: u32 = 100;

/// How often an odd question is asked.
const ODD_QUERY_REPEATS: usize = 5;

/// Opens the line of the script among wrk's own output.
const MARK: &str = "measured ";

/// Each connection asks the next question of the list.
const SCRIPT: &str = r#"
local next_one = 0
request = function()
  next_one = next_one % #paths + 1
  return wrk.format("GET", paths[next_one])
end
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'measured {"requests":%d,"micros":%d,"p50":%d,"p95":%d,"p99":%d,"errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(95), latency:percentile(99),
    e.status + e.connect + e.read + e.write + e.timeout))
end
"#;

/// How long answers took, in milliseconds.
#[derive(Debug, PartialEq)]
pub(super) struct Times {
    pub(super) count: u64,
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) per_second: f64,
    pub(super) errors: u64,
}

#[derive(Deserialize)]
struct Measured {
    requests: u64,
    micros: f64,
    p50: f64,
    p95: f64,
    p99: f64,
    errors: u64,
}

/// Asks one after the other; every answer must be good, and not a poor one.
pub(super) fn one_by_one(addr: SocketAddr, paths: impl Iterator<Item = String>) -> Result<Times> {
    let mut connection = Connection::open(addr)?;
    let mut times = Vec::new();
    let began = Instant::now();
    for path in paths {
        let request = Request::get(path);
        let started = Instant::now();
        let answer = connection.exchange(&request).with_context(|| format!("GET {}", request.path))?;
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        ensure!(!answer.contains("\"degraded\":\""), "GET {} is poor: {answer}", request.path);
    }
    ensure!(!times.is_empty(), "there was nothing to ask");
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let per_second = times.len() as f64 / began.elapsed().as_secs_f64();
    let count = u64::try_from(times.len())?;
    let [p50, p95, p99] = [50, 95, 99].map(|percent| quantile(times.clone(), percent));
    Ok(Times { count, p50, p95, p99, per_second, errors: 0 })
}

/// Asks each question a few times, and says how long the slowest of them takes in milliseconds: an answer, or an error
/// that says why.
pub(super) fn slowest(addr: SocketAddr, paths: impl Iterator<Item = String>) -> Result<f64> {
    let mut slowest = 0.0_f64;
    for path in paths {
        let request = Request::get(path);
        let mut times = Vec::new();
        for _ in 0..ODD_QUERY_REPEATS {
            let started = Instant::now();
            let answer = exchange::send(addr, &request)?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            let start: String = request.path.chars().take(100).collect();
            ensure!([200, 400, 414, 431].contains(&answer.status), "GET {start}: status {}", answer.status);
        }
        slowest = slowest.max(median(times));
    }
    Ok(slowest)
}

/// Has many clients ask at once, for so long.
pub(super) fn at_once(
    addr: SocketAddr,
    paths: impl Iterator<Item = String>,
    place: &Workspace,
    time: Duration,
) -> Result<Times> {
    let folder = place.folder("wrk")?;
    let file = folder.join("questions.lua");
    fs::write(&file, script(paths)).with_context(|| format!("could not write {}", file.display()))?;
    let mut command = Command::new("wrk");
    command.args(["-t1", "--timeout", "10s", "-c"]).arg(CLIENTS.to_string());
    command.arg("-d").arg(format!("{}s", time.as_secs())).arg("-s").arg(&file).arg(format!("http://{addr}/"));
    let output = process::output(&mut command, &folder, time + Duration::from_secs(60))?;
    parse(&output).with_context(|| format!("no figures in what wrk printed:\n{output}"))
}

fn script(paths: impl Iterator<Item = String>) -> String {
    let mut script = "local paths = {\n".to_owned();
    for path in paths {
        // Only what is percent-encoded: nothing in it means anything to Lua. Writing to a string can't fail.
        let _ = writeln!(script, "  \"{path}\",");
    }
    script.push_str("}\n");
    script + SCRIPT
}

fn parse(output: &str) -> Option<Times> {
    let Measured { requests, micros, p50, p95, p99, errors } =
        serde_json::from_str(output.lines().find_map(|line| line.strip_prefix(MARK))?).ok()?;
    let [p50, p95, p99] = [p50, p95, p99].map(|micros| micros / 1000.0);
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let per_second = requests as f64 * 1_000_000.0 / micros;
    Some(Times { count: requests, p50, p95, p99, per_second, errors })
}

#[cfg(test)]
mod tests;
