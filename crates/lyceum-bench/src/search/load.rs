//! Queries to a server: sequential on one connection, or by concurrent clients.

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

/// Number of concurrent clients.
pub(super) const CLIENTS: u32 = 100;

/// Repeats of each odd query.
const ODD_QUERY_REPEATS: usize = 5;

/// Prefix of the script's line in wrk's output.
const OUTPUT_PREFIX: &str = "measured ";

/// Each request takes the next query of the list.
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

/// Latencies in milliseconds.
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

/// Sends queries sequentially; every response must be successful and not degraded.
pub(super) fn sequential(addr: SocketAddr, paths: impl Iterator<Item = String>) -> Result<Times> {
    let mut connection = Connection::open(addr)?;
    let mut times = Vec::new();
    let run_started = Instant::now();
    for path in paths {
        let request = Request::get(path);
        let started = Instant::now();
        let response = connection.exchange(&request).with_context(|| format!("GET {}", request.path))?;
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        ensure!(!response.contains("\"degraded\":\""), "GET {} is degraded: {response}", request.path);
    }
    ensure!(!times.is_empty(), "no queries");
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let per_second = times.len() as f64 / run_started.elapsed().as_secs_f64();
    let count = u64::try_from(times.len())?;
    let [p50, p95, p99] = [50, 95, 99].map(|percent| quantile(times.clone(), percent));
    Ok(Times { count, p50, p95, p99, per_second, errors: 0 })
}

/// Sends each query a few times and returns the highest median latency in milliseconds. A client error counts as a
/// valid response.
pub(super) fn slowest(addr: SocketAddr, paths: impl Iterator<Item = String>) -> Result<f64> {
    let mut slowest = 0.0_f64;
    for path in paths {
        let request = Request::get(path);
        let mut times = Vec::new();
        for _ in 0..ODD_QUERY_REPEATS {
            let started = Instant::now();
            let response = exchange::send(addr, &request)?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            let start: String = request.path.chars().take(100).collect();
            ensure!(
                [200, 400, 414, 431].contains(&response.status),
                "GET {start}: status {}",
                response.status
            );
        }
        slowest = slowest.max(median(times));
    }
    Ok(slowest)
}

/// Sends queries from concurrent clients for a time.
pub(super) fn concurrent(
    addr: SocketAddr,
    paths: impl Iterator<Item = String>,
    workspace: &Workspace,
    time: Duration,
) -> Result<Times> {
    let folder = workspace.folder("wrk")?;
    let file = folder.join("questions.lua");
    fs::write(&file, script(paths)).with_context(|| format!("could not write {}", file.display()))?;
    let mut command = Command::new("wrk");
    command.args(["-t1", "--timeout", "10s", "-c"]).arg(CLIENTS.to_string());
    command.arg("-d").arg(format!("{}s", time.as_secs())).arg("-s").arg(&file).arg(format!("http://{addr}/"));
    let output = process::output(&mut command, &folder, time + Duration::from_secs(60))?;
    parse(&output).with_context(|| format!("could not parse the output of wrk:\n{output}"))
}

fn script(paths: impl Iterator<Item = String>) -> String {
    let mut script = "local paths = {\n".to_owned();
    for path in paths {
        // Paths are percent-encoded, so they need no escaping in Lua. Writing to a string can't fail.
        let _ = writeln!(script, "  \"{path}\",");
    }
    script.push_str("}\n");
    script + SCRIPT
}

fn parse(output: &str) -> Option<Times> {
    let Measured { requests, micros, p50, p95, p99, errors } =
        serde_json::from_str(output.lines().find_map(|line| line.strip_prefix(OUTPUT_PREFIX))?).ok()?;
    let [p50, p95, p99] = [p50, p95, p99].map(|micros| micros / 1000.0);
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let per_second = requests as f64 * 1_000_000.0 / micros;
    Some(Times { count: requests, p50, p95, p99, per_second, errors })
}

#[cfg(test)]
mod tests;
