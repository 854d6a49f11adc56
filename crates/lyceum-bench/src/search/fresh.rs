//! From an empty data folder until 2,000 documents are found by lexical, then by vector search.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::program::Program;
use super::questions::{percent_encode, title};
use super::served::embed_progress;
use super::workspace::Workspace;
use crate::memory;
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::server::Server;

/// Number of documents.
const DOCUMENTS: usize = 2000;

/// Number of documents to query for.
const PROBES: usize = 20;

/// Timeouts.
const LEXICAL_TIMEOUT: Duration = Duration::from_secs(120);
const VECTOR_TIMEOUT: Duration = Duration::from_secs(1800);

/// Results.
pub(super) struct FreshnessTimes {
    /// Seconds from process start until every probe is found by lexical search.
    pub(super) lexical_seconds: f64,
    /// Seconds until every probe is found by vector search, by its first chunk.
    pub(super) first_chunks_seconds: f64,
    /// Seconds until every chunk is embedded.
    pub(super) all_chunks_seconds: f64,
    pub(super) documents: i64,
    pub(super) chunks: i64,
    /// Peak memory until then.
    pub(super) peak_kib: u64,
}

/// A document and the query that must find it.
struct Probe {
    path: String,
    title: String,
}

/// Starts a server with an empty data folder and queries until everything is found. The model is installed already.
pub(super) fn measure(program: &Program, workspace: &Workspace) -> Result<FreshnessTimes> {
    let repository = workspace.part_of_mdn(DOCUMENTS)?;
    let probes = probes(workspace, &repository)?;
    let data = workspace.emptied("data-fresh")?;
    println!("indexing {DOCUMENTS} documents from scratch");
    let started = Instant::now();
    let server = program.serve(&repository, &data)?;
    let measured = wait(&server, &probes, started);
    let measured = server.explain(measured);
    drop(server);
    let _ = std::fs::remove_dir_all(data);
    measured
}

fn wait(server: &Server, probes: &[Probe], started: Instant) -> Result<FreshnessTimes> {
    let until_found = |mode: &str, limit: Duration| {
        for probe in probes {
            while !is_found(server, probe, mode)? {
                ensure!(started.elapsed() < limit, "{} is not found by {mode} search", probe.path);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        println!("found by {mode} search after {:.2} s", started.elapsed().as_secs_f64());
        anyhow::Ok(started.elapsed().as_secs_f64())
    };
    let lexical_seconds = until_found("lexical", LEXICAL_TIMEOUT)?;
    let first_chunks_seconds = until_found("vector", VECTOR_TIMEOUT)?;
    loop {
        let now = embed_progress(server)?;
        if now.pending == 0 && now.state == "ready" && now.chunks > 0 {
            break;
        }
        ensure!(started.elapsed() < VECTOR_TIMEOUT, "{} chunks are not embedded yet", now.pending);
        std::thread::sleep(Duration::from_millis(200));
    }
    let all_chunks_seconds = until_found("vector", VECTOR_TIMEOUT)?;
    let now = embed_progress(server)?;
    let peak_kib = memory::settled_peak_kib(server.id())?;
    Ok(FreshnessTimes {
        lexical_seconds,
        first_chunks_seconds,
        all_chunks_seconds,
        documents: now.documents,
        chunks: now.chunks,
        peak_kib,
    })
}

/// Whether a document is found in this search mode.
fn is_found(server: &Server, probe: &Probe, mode: &str) -> Result<bool> {
    let Probe { path, title } = probe;
    let path =
        format!("/api/v1/search?mode={mode}&path={}&q={}", percent_encode(path), percent_encode(title));
    let response = exchange::send(server.addr, &Request::get(path))?;
    if response.status != 200 {
        // The index is still being opened.
        return Ok(false);
    }
    let response: Value = serde_json::from_str(&response.body)?;
    // The response may be degraded while chunks are not embedded; vector search only returns embedded chunks.
    Ok(response.get("results").and_then(Value::as_array).is_some_and(|results| !results.is_empty()))
}

/// Documents spread over the repository, including the last.
fn probes(workspace: &Workspace, repository: &std::path::Path) -> Result<Vec<Probe>> {
    let args = ["grep", "-I", "-m1", "^title:", "HEAD", "--", "*.md"];
    let listed = workspace.git_in(repository, &args)?;
    let probe = |line: &str| {
        let (path, line) = line.strip_prefix("HEAD:")?.split_once(':')?;
        let title = title(line)?;
        let is_plain = title.split_whitespace().any(|word| word.len() > 4);
        is_plain.then(|| Probe { path: path.to_owned(), title })
    };
    let all: Vec<Probe> = listed.lines().filter_map(probe).collect();
    ensure!(all.len() > PROBES, "only {} documents have a title", all.len());
    let step = all.len() / PROBES;
    Ok(all.into_iter().rev().step_by(step).take(PROBES).collect())
}
