//! From an empty data folder until 2,000 documents are found: by their words, then by what they mean.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::program::Program;
use super::questions::{encoded, title};
use super::served::filling;
use super::workspace::Workspace;
use crate::memory;
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::server::Server;

/// How many documents there are.
const DOCUMENTS: usize = 2000;

/// How many of them are looked for.
const PROBES: usize = 20;

/// The longest waits.
const LEXICAL_TIMEOUT: Duration = Duration::from_secs(120);
const VECTOR_TIMEOUT: Duration = Duration::from_secs(1800);

/// What was found.
pub(super) struct FreshnessTimes {
    /// Seconds from the start of the process. Every document, by its words.
    pub(super) lexical_seconds: f64,
    /// Every document, by how it begins.
    pub(super) first_chunks_seconds: f64,
    /// Every passage of them.
    pub(super) all_chunks_seconds: f64,
    pub(super) documents: i64,
    pub(super) chunks: i64,
    /// The most memory that it held until then.
    pub(super) peak_kib: u64,
}

/// A document, and what it is asked for by.
struct Probe {
    path: String,
    title: String,
}

/// Starts a server with nothing, and asks until everything is found. The model is there already.
pub(super) fn measure(program: &Program, place: &Workspace) -> Result<FreshnessTimes> {
    let repository = place.part_of_mdn(DOCUMENTS)?;
    let probes = probes(place, &repository)?;
    let data = place.emptied("data-fresh")?;
    println!("{DOCUMENTS} documents from nothing");
    let began = Instant::now();
    let server = program.serve(&repository, &data)?;
    let measured = wait(&server, &probes, began);
    let measured = server.explain(measured);
    drop(server);
    let _ = std::fs::remove_dir_all(data);
    measured
}

fn wait(server: &Server, probes: &[Probe], began: Instant) -> Result<FreshnessTimes> {
    let until_found = |mode: &str, limit: Duration| {
        for probe in probes {
            while !is_found(server, probe, mode)? {
                ensure!(began.elapsed() < limit, "{} is not found by {mode}", probe.path);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        println!("found by {mode} after {:.2} s", began.elapsed().as_secs_f64());
        anyhow::Ok(began.elapsed().as_secs_f64())
    };
    let lexical_seconds = until_found("lexical", LEXICAL_TIMEOUT)?;
    let first_chunks_seconds = until_found("vector", VECTOR_TIMEOUT)?;
    loop {
        let now = filling(server)?;
        if now.pending == 0 && now.state == "ready" && now.chunks > 0 {
            break;
        }
        ensure!(began.elapsed() < VECTOR_TIMEOUT, "{} passages have no vector yet", now.pending);
        std::thread::sleep(Duration::from_millis(200));
    }
    let all_chunks_seconds = until_found("vector", VECTOR_TIMEOUT)?;
    let now = filling(server)?;
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

/// Whether a document is found, and by that alone.
fn is_found(server: &Server, probe: &Probe, mode: &str) -> Result<bool> {
    let Probe { path, title } = probe;
    let path = format!("/api/v1/search?mode={mode}&path={}&q={}", encoded(path), encoded(title));
    let answer = exchange::send(server.addr, &Request::get(path))?;
    if answer.status != 200 {
        // It is still being opened.
        return Ok(false);
    }
    let answer: Value = serde_json::from_str(&answer.body)?;
    // While some passages have no vector yet the answer says so; what it finds by meaning has one.
    Ok(answer.get("results").and_then(Value::as_array).is_some_and(|results| !results.is_empty()))
}

/// Documents from all over the repository, the last among them.
fn probes(place: &Workspace, repository: &std::path::Path) -> Result<Vec<Probe>> {
    let words = ["grep", "-I", "-m1", "^title:", "HEAD", "--", "*.md"];
    let listed = place.git_in(repository, &words)?;
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
