//! A server with about 20,000 chunks, queried by one client and by many.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::load::{self, Times};
use super::program::Program;
use super::questions::{self, Questions};
use super::workspace::Workspace;
use crate::memory;
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::server::Server;

/// Timeout for embedding everything, in the first run.
const EMBED_TIMEOUT: Duration = Duration::from_secs(3 * 3600);

/// Give up if nothing changes for this long.
const STALL_TIMEOUT: Duration = Duration::from_secs(300);

/// Interval of progress output.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(30);

/// Results.
pub(super) struct ServedResults {
    pub(super) documents: i64,
    pub(super) chunks: i64,
    /// Chunks embedded per second; `None` if they were embedded by an earlier run.
    pub(super) embedded_per_second: Option<f64>,
    pub(super) hybrid_one: Times,
    pub(super) hybrid_many: Times,
    pub(super) lexical_one: Times,
    pub(super) lexical_many: Times,
    /// Latency of the slowest odd query, in milliseconds.
    pub(super) odd: f64,
    /// Peak memory of the server.
    pub(super) peak_kib: u64,
}

/// Index status from `/health`.
pub(super) struct EmbedProgress {
    pub(super) documents: i64,
    pub(super) chunks: i64,
    pub(super) pending: i64,
    pub(super) state: String,
    reason: Option<String>,
}

/// Starts a server and runs the queries.
pub(super) fn measure(
    program: &Program,
    workspace: &Workspace,
    questions: &Questions,
    documents: u32,
    seconds: u64,
) -> Result<ServedResults> {
    let repository = workspace.part_of_mdn(usize::try_from(documents)?)?;
    let server = program.serve(&repository, &workspace.folder(&format!("data-{documents}"))?)?;
    let measured = measure_queries(&server, workspace, questions, documents, seconds);
    server.explain(measured)
}

fn measure_queries(
    server: &Server,
    workspace: &Workspace,
    questions: &Questions,
    documents: u32,
    seconds: u64,
) -> Result<ServedResults> {
    let (progress, embedded_per_second) = wait_until_embedded(server, i64::from(documents))?;
    let addr = server.addr;
    let paths =
        |mode: &'static str| questions.for_one_client().map(move |query| questions::path(query, mode));
    let remaining = |mode: &'static str| questions.remaining().map(move |query| questions::path(query, mode));
    let time = Duration::from_secs(seconds);
    // Warm-up with queries that are not measured.
    load::sequential(addr, remaining("hybrid").take(50))?;
    println!("one client");
    let hybrid_one = load::sequential(addr, paths("hybrid"))?;
    let lexical_one = load::sequential(addr, paths("lexical"))?;
    let odd = questions::odd();
    let odd = load::slowest(addr, odd.iter().map(|query| questions::path(query, "hybrid")))?;
    println!("{} clients for {seconds} s, twice", load::CLIENTS);
    let hybrid_many = load::concurrent(addr, remaining("hybrid").skip(50), workspace, time)?;
    server.truncate_log()?;
    let lexical_many = load::concurrent(addr, remaining("lexical"), workspace, time)?;
    server.truncate_log()?;
    let peak_kib = memory::settled_peak_kib(server.id())?;
    let EmbedProgress { documents, chunks, .. } = progress;
    Ok(ServedResults {
        documents,
        chunks,
        embedded_per_second,
        hybrid_one,
        hybrid_many,
        lexical_one,
        lexical_many,
        odd,
        peak_kib,
    })
}

/// Waits until all chunks of about `documents` documents are embedded; returns the rate.
fn wait_until_embedded(server: &Server, documents: i64) -> Result<(EmbedProgress, Option<f64>)> {
    let started = Instant::now();
    let (mut changed, mut reported) = (started, started);
    let mut before = (0, 0);
    let mut first: Option<(Instant, i64)> = None;
    loop {
        let now = embed_progress(server)?;
        // Some files of a repository are not documents.
        if now.documents * 100 >= documents * 95 {
            if now.pending > 0 && now.state == "embedding" {
                first.get_or_insert((Instant::now(), now.pending));
            }
            if now.pending == 0 && now.state == "ready" {
                #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
                let speed = first.map(|(since, count)| count as f64 / since.elapsed().as_secs_f64());
                return Ok((now, speed));
            }
        }
        if (now.documents, now.pending) != before {
            (before, changed) = ((now.documents, now.pending), Instant::now());
        }
        ensure!(now.state != "degraded", "search is degraded: {}", now.reason.unwrap_or_default());
        ensure!(changed.elapsed() < STALL_TIMEOUT, "no progress for {STALL_TIMEOUT:?}: {before:?}");
        ensure!(started.elapsed() < EMBED_TIMEOUT, "not embedded after {EMBED_TIMEOUT:?}");
        if reported.elapsed() > PROGRESS_INTERVAL {
            reported = Instant::now();
            println!("embedding: {} of {} chunks are left", now.pending, now.chunks);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Reads the index status.
pub(super) fn embed_progress(server: &Server) -> Result<EmbedProgress> {
    let response = exchange::send(server.addr, &Request::get("/health"))?;
    let health: Value = serde_json::from_str(&response.body)?;
    let search = health.get("search").filter(|search| search.is_object());
    let search = search.context("GET /health has no `search`")?;
    let number = |name: &str| {
        search.get(name).and_then(Value::as_i64).with_context(|| format!("no {name} in {search}"))
    };
    let text = |name: &str| search.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(EmbedProgress {
        documents: number("documents")?,
        chunks: number("chunks")?,
        pending: number("pending")?,
        state: text("state").unwrap_or_default(),
        reason: text("reason"),
    })
}
