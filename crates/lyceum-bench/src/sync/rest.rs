//! Reading over REST: a page of entries and one document, each compared with bare axum that sends the same bytes.
//!
//! All servers run for the whole benchmark and are measured in turn in each round, so that changes of the machine
//! affect all of them alike.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::lyceum::Lyceum;
use super::served;
use crate::memory;
use crate::wrk::{self, Measured};
use lyceum_harness::exchange::{self, Request, Response};
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

/// Load per server and round.
const LOAD_TIME: Duration = Duration::from_secs(4);

/// Unmeasured load before the first round.
const WARM_UP: Duration = Duration::from_secs(1);

/// Entries per page.
const ENTRIES: usize = 20;

/// Target size of the document, and the number of pages of a hundred entries to choose it from.
const DOCUMENT_BYTES: usize = 4096;
const SAMPLED_PAGES: usize = 3;

/// Results.
pub(super) struct Rest {
    pub(super) lines: Vec<Line>,
    /// Peak memory of the server.
    pub(super) peak_kib: u64,
}

/// Results of one request on both servers, by round.
pub(super) struct Line {
    pub(super) name: String,
    /// Size of the response body.
    pub(super) bytes: usize,
    pub(super) lyceum: Vec<Measured>,
    pub(super) bare: Vec<Measured>,
}

/// A request, and the bare server that sends the same bytes.
struct Pair {
    request: Request,
    bare: Server,
    line: Line,
}

/// Starts all servers and loads them, interleaved.
pub(super) fn measure(
    lyceum: &Lyceum<'_>,
    data: &Path,
    bare_json: &Path,
    scratch: &Scratch,
    rounds: u32,
) -> Result<Rest> {
    let started = Instant::now();
    let server = lyceum.serve(data)?;
    served::until_ready(&server, started)?;
    let measured = load_all(&server, bare_json, scratch, rounds);
    let lines = server.explain(measured)?;
    let peak_kib = memory::settled_peak_kib(server.id())?;
    Ok(Rest { lines, peak_kib })
}

fn load_all(server: &Server, bare_json: &Path, scratch: &Scratch, rounds: u32) -> Result<Vec<Line>> {
    let page = Request::get(format!("/api/v1/entries?limit={ENTRIES}"));
    let response = json(server, &page)?;
    let count = entries(&response)?.len();
    ensure!(count == ENTRIES, "got {count} entries, expected {ENTRIES}");
    let document = document_of(server, DOCUMENT_BYTES)?;
    let mut pairs = vec![
        pair(server, bare_json, scratch, page, format!("`GET /api/v1/entries`, {ENTRIES} entries"))?,
        pair(server, bare_json, scratch, document, "`GET /api/v1/entries/{type}/{id}`".to_owned())?,
    ];
    for pair in &pairs {
        load(server, &pair.request, scratch, WARM_UP)?;
        load(&pair.bare, &pair.request, scratch, WARM_UP)?;
    }
    for round in 1..=rounds {
        // The order affects the results, because a load leaves the machine in another state: rotate it.
        pairs.rotate_left(1);
        for Pair { request, bare, line } in &mut pairs {
            line.lyceum.push(load(server, request, scratch, LOAD_TIME)?);
            line.bare.push(load(bare, request, scratch, LOAD_TIME)?);
            let [ours, bare] =
                [&line.lyceum, &line.bare].map(|all| all.last().map_or(0.0, Measured::per_second));
            println!("round {round}: {} {ours:.0} req/s, bare {bare:.0}", line.name);
        }
    }
    let rotation = usize::try_from(rounds)? % pairs.len();
    pairs.rotate_right(rotation);
    Ok(pairs.into_iter().map(|pair| pair.line).collect())
}

/// Sends the request once and starts a bare server with the response.
fn pair(
    server: &Server,
    bare_json: &Path,
    scratch: &Scratch,
    request: Request,
    name: String,
) -> Result<Pair> {
    let body = successful(server, &request)?.body;
    let folder = scratch.folder("bare")?;
    let file = folder.join(format!("{}.json", body.len()));
    fs::write(&file, &body).with_context(|| format!("could not write {}", file.display()))?;
    let mut command = Command::new(bare_json);
    command.args(["--listen", "127.0.0.1:0", "--body"]).arg(&file);
    let bare = Server::start(&mut command, &folder.join(format!("{}.log", body.len())))?;
    ensure!(successful(&bare, &request)?.body == body, "the bare server sends another body");
    let line = Line { name, bytes: body.len(), lyceum: Vec::new(), bare: Vec::new() };
    Ok(Pair { request, bare, line })
}

fn load(server: &Server, request: &Request, scratch: &Scratch, time: Duration) -> Result<Measured> {
    let measured = wrk::load(server.addr, request, scratch.path(), time)?;
    server.truncate_log()?;
    Ok(measured)
}

/// The request for the document whose response is nearest to this size, among some hundred.
fn document_of(server: &Server, size: usize) -> Result<Request> {
    let mut best: Option<(usize, String)> = None;
    for page in 0..SAMPLED_PAGES {
        let request = Request::get(format!("/api/v1/entries?limit=100&offset={}", page * 100));
        let response = json(server, &request)?;
        for path in entries(&response)?.iter().filter_map(path_of) {
            let distance = successful(server, &Request::get(path.clone()))?.body.len().abs_diff(size);
            if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                best = Some((distance, path));
            }
        }
    }
    let (_, path) = best.context("no entry has an id that needs no URL encoding")?;
    Ok(Request::get(path))
}

/// Path of a document, if it needs no URL encoding.
fn path_of(entry: &Value) -> Option<String> {
    let text = |key| entry.get(key).and_then(Value::as_str);
    let path = format!("/api/v1/entries/{}/{}", text("contentType")?, text("id")?);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
    path.chars().all(is_plain).then_some(path)
}

fn entries(response: &Value) -> Result<&Vec<Value>> {
    response.get("entries").and_then(Value::as_array).with_context(|| format!("no entries in {response}"))
}

fn json(server: &Server, request: &Request) -> Result<Value> {
    let body = successful(server, request)?.body;
    serde_json::from_str(&body).with_context(|| format!("not JSON: {body}"))
}

fn successful(server: &Server, request: &Request) -> Result<Response> {
    let response = exchange::send(server.addr, request)?;
    let Response { status, body, .. } = &response;
    ensure!(*status == 200, "GET {} returned {status}: {body}", request.path);
    let kind = response.header("content-type").unwrap_or_default();
    ensure!(kind.starts_with("application/json"), "GET {} returned {kind}", request.path);
    Ok(response)
}

#[cfg(test)]
mod tests;
