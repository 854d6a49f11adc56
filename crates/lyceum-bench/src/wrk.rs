//! Runs `wrk` with one request, and parses the results that our Lua script prints.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use lyceum_harness::exchange::Request;
use lyceum_harness::process;

/// Prefix of the script's line in wrk's output.
const OUTPUT_PREFIX: &str = "measured ";

/// Prints the results. `errors.status` counts responses with status 400 and above.
const DONE_SCRIPT: &str = r#"
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'measured {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.status, e.connect + e.read + e.write + e.timeout))
end
"#;

/// Results of one run; times in microseconds.
#[derive(Debug, Deserialize, PartialEq)]
pub(super) struct Measured {
    pub(super) requests: u64,
    pub(super) micros: u64,
    pub(super) p50: u64,
    pub(super) p99: u64,
    pub(super) refused: u64,
    pub(super) broken: u64,
}

impl Measured {
    /// Requests per second.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    pub(super) fn per_second(&self) -> f64 {
        self.requests as f64 * 1_000_000.0 / self.micros as f64
    }
}

/// Fails with instructions if wrk is not installed.
pub(super) fn must_be_installed() -> Result<()> {
    // `wrk -v` always exits with 1.
    match Command::new("wrk").arg("-v").output() {
        Ok(_) => Ok(()),
        Err(error) => bail!("wrk is missing ({error}); install it: apt-get install -y wrk"),
    }
}

/// Loads a server with one request over 64 connections; fails on any error or error status.
pub(super) fn load(addr: SocketAddr, request: &Request, folder: &Path, time: Duration) -> Result<Measured> {
    let file = folder.join("request.lua");
    fs::write(&file, script(request)).with_context(|| format!("could not write {}", file.display()))?;
    let mut command = Command::new("wrk");
    command.args(["-t1", "-c64", "--timeout", "10s", "-d"]).arg(format!("{}s", time.as_secs()));
    command.arg("-s").arg(&file).arg(format!("http://{addr}{}", request.path));
    let output = process::output(&mut command, folder, time + Duration::from_secs(30))?;
    let measured = parse(&output).with_context(|| format!("could not parse the output of wrk:\n{output}"))?;
    ensure!(measured.requests > 0, "no request succeeded:\n{output}");
    let failures = measured.refused + measured.broken;
    ensure!(
        failures == 0,
        "{} responses were errors, {} requests failed:\n{output}",
        measured.refused,
        measured.broken
    );
    Ok(measured)
}

fn script(request: &Request) -> String {
    let headers =
        request.headers.iter().map(|(name, value)| format!("wrk.headers[{}] = {}\n", lua(name), lua(value)));
    let headers: String = headers.collect();
    let numbering = numbering(request).unwrap_or_default();
    format!(
        "wrk.method = {}\nwrk.body = {}\n{headers}{numbering}{DONE_SCRIPT}",
        lua(request.method),
        lua(&request.body)
    )
}

/// A script that numbers requests: within a session every request needs a unique id. `None` without a session.
fn numbering(request: &Request) -> Option<String> {
    request.headers.iter().find(|(name, _)| *name == "Mcp-Session-Id")?;
    let (before, after) = request.body.split_once("\"id\":1,")?;
    let (before, after) = (lua(&format!("{before}\"id\":")), lua(&format!(",{after}")));
    Some(format!(
        "local id = 0\nrequest = function()\n  id = id + 1\n  \
         return wrk.format(nil, nil, nil, {before} .. id .. {after})\nend\n"
    ))
}

/// A Lua string literal; escapes of quotes and backslashes are the same as in Rust, and nothing else occurs here.
fn lua(text: &str) -> String {
    format!("{text:?}")
}

fn parse(output: &str) -> Option<Measured> {
    serde_json::from_str(output.lines().find_map(|line| line.strip_prefix(OUTPUT_PREFIX))?).ok()
}

#[cfg(test)]
mod tests;
