//! Reading over REST: a page of entries, and one document, each beside bare axum that sends the same bytes.
//!
//! All servers live through the whole run and are measured in turn, round after round, so that a change in the
//! machine's mood meets all of them alike.

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

/// How long each server is loaded in each round.
const LOAD_TIME: Duration = Duration::from_secs(4);

/// How long before the first round, unmeasured.
const WARM_UP: Duration = Duration::from_secs(1);

/// How many entries a page has.
const ENTRIES: usize = 20;

/// How large the document should be, and among how many pages of a hundred entries it is looked for.
const SIZE: usize = 4096;
const PAGES: usize = 3;

/// What was found.
pub(super) struct Rest {
    pub(super) lines: Vec<Line>,
    /// The most memory that the server held, all of this included.
    pub(super) peak_kib: u64,
}

/// One request, on both servers, round by round.
pub(super) struct Line {
    pub(super) name: String,
    /// How long the body of an answer is.
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

/// Starts all servers and loads them in turn.
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
    let answer = json(server, &page)?;
    let count = entries(&answer)?.len();
    ensure!(count == ENTRIES, "{count} entries were sent, not {ENTRIES}");
    let document = document_of(server, SIZE)?;
    let mut pairs = vec![
        pair(server, bare_json, scratch, page, format!("`GET /api/v1/entries`, {ENTRIES} entries"))?,
        pair(server, bare_json, scratch, document, "`GET /api/v1/entries/{type}/{id}`".to_owned())?,
    ];
    for pair in &pairs {
        load(server, &pair.request, scratch, WARM_UP)?;
        load(&pair.bare, &pair.request, scratch, WARM_UP)?;
    }
    for round in 1..=rounds {
        // Whoever comes after a slow one finds another machine than whoever comes after a fast one.
        pairs.rotate_left(1);
        for Pair { request, bare, line } in &mut pairs {
            line.lyceum.push(load(server, request, scratch, LOAD_TIME)?);
            line.bare.push(load(bare, request, scratch, LOAD_TIME)?);
            let [ours, bare] =
                [&line.lyceum, &line.bare].map(|all| all.last().map_or(0.0, Measured::per_second));
            println!("round {round}: {} {ours:.0} req/s, bare {bare:.0}", line.name);
        }
    }
    let turned = usize::try_from(rounds)? % pairs.len();
    pairs.rotate_right(turned);
    Ok(pairs.into_iter().map(|pair| pair.line).collect())
}

/// Asks once, and starts a bare server with what came.
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
    ensure!(successful(&bare, &request)?.body == body, "the bare server sends something else");
    let line = Line { name, bytes: body.len(), lyceum: Vec::new(), bare: Vec::new() };
    Ok(Pair { request, bare, line })
}

fn load(server: &Server, request: &Request, scratch: &Scratch, time: Duration) -> Result<Measured> {
    let measured = wrk::load(server.addr, request, scratch.path(), time)?;
    server.forget_log()?;
    Ok(measured)
}

/// The request for the document whose answer is nearest to that size, among some hundred.
fn document_of(server: &Server, size: usize) -> Result<Request> {
    let mut best: Option<(usize, String)> = None;
    for page in 0..PAGES {
        let request = Request::get(format!("/api/v1/entries?limit=100&offset={}", page * 100));
        let answer = json(server, &request)?;
        for path in entries(&answer)?.iter().filter_map(path_of) {
            let distance = successful(server, &Request::get(path.clone()))?.body.len().abs_diff(size);
            if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                best = Some((distance, path));
            }
        }
    }
    let (_, path) = best.context("no entry has a name that can stand in an address as it is")?;
    Ok(Request::get(path))
}

/// Where a document is, if its name can stand in an address as it is.
fn path_of(entry: &Value) -> Option<String> {
    let text = |key| entry.get(key).and_then(Value::as_str);
    let path = format!("/api/v1/entries/{}/{}", text("contentType")?, text("id")?);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
    path.chars().all(is_plain).then_some(path)
}

fn entries(answer: &Value) -> Result<&Vec<Value>> {
    answer.get("entries").and_then(Value::as_array).with_context(|| format!("no entries in {answer}"))
}

fn json(server: &Server, request: &Request) -> Result<Value> {
    let body = successful(server, request)?.body;
    serde_json::from_str(&body).with_context(|| format!("not JSON: {body}"))
}

fn successful(server: &Server, request: &Request) -> Result<Response> {
    let answer = exchange::send(server.addr, request)?;
    let Response { status, body, .. } = &answer;
    ensure!(*status == 200, "GET {} gave {status}: {body}", request.path);
    let kind = answer.header("content-type").unwrap_or_default();
    ensure!(kind.starts_with("application/json"), "GET {} gave {kind}", request.path);
    Ok(answer)
}

#[cfg(test)]
mod tests;
