//! From an empty data folder until 2,000 documents are found: by their words, then by what they mean.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::place::Place;
use super::program::Program;
use super::questions::{encoded, title};
use super::served::filling;
use crate::bench::memory;
use crate::exchange::{self, Request};
use crate::server::Server;

/// How many documents there are.
const DOCUMENTS: usize = 2000;

/// How many of them are looked for.
const PROBES: usize = 20;

/// The longest waits.
const BY_WORDS_WITHIN: Duration = Duration::from_secs(120);
const BY_MEANING_WITHIN: Duration = Duration::from_secs(1800);

/// What was found.
pub(super) struct Fresh {
    /// Seconds from the start of the process.
    pub(super) by_words: f64,
    pub(super) by_meaning: f64,
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
pub(super) fn measure(program: &Program, place: &Place) -> Result<Fresh> {
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

fn wait(server: &Server, probes: &[Probe], began: Instant) -> Result<Fresh> {
    for probe in probes {
        while !is_found(server, probe, "words")? {
            ensure!(began.elapsed() < BY_WORDS_WITHIN, "{} is not found by words", probe.path);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let by_words = began.elapsed().as_secs_f64();
    println!("found by words after {by_words:.2} s");
    loop {
        let now = filling(server)?;
        if now.pending == 0 && now.state == "ready" && now.chunks > 0 {
            break;
        }
        ensure!(began.elapsed() < BY_MEANING_WITHIN, "{} passages have no vector yet", now.pending);
        std::thread::sleep(Duration::from_millis(200));
    }
    for probe in probes {
        ensure!(is_found(server, probe, "meaning")?, "{} is not found by meaning", probe.path);
    }
    let by_meaning = began.elapsed().as_secs_f64();
    println!("found by meaning after {by_meaning:.0} s");
    let now = filling(server)?;
    let peak_kib = memory::settled_peak_kib(server.id())?;
    Ok(Fresh { by_words, by_meaning, documents: now.documents, chunks: now.chunks, peak_kib })
}

/// Whether a document is found, and by that alone: a poor answer is none.
fn is_found(server: &Server, probe: &Probe, mode: &str) -> Result<bool> {
    let Probe { path, title } = probe;
    let path = format!("/api/v1/search?mode={mode}&path={}&q={}", encoded(path), encoded(title));
    let answer = exchange::send(server.addr, &Request::get(path))?;
    if answer.status != 200 {
        // It is still being opened.
        return Ok(false);
    }
    let answer: Value = serde_json::from_str(&answer.body)?;
    let found = answer.get("results").and_then(Value::as_array).is_some_and(|results| !results.is_empty());
    Ok(found && answer.get("degraded").is_none_or(Value::is_null))
}

/// Documents from all over the repository, the last among them.
fn probes(place: &Place, repository: &std::path::Path) -> Result<Vec<Probe>> {
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
