//! A server with about 20,000 passages, asked by one client and by many.

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

/// The longest that all vectors may take, the first time.
const EMBED_TIMEOUT: Duration = Duration::from_secs(3 * 3600);

/// How long nothing may change meanwhile.
const STALL_TIMEOUT: Duration = Duration::from_secs(300);

/// How often it is said how far it is.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(30);

/// What was found.
pub(super) struct ServedResults {
    pub(super) documents: i64,
    pub(super) chunks: i64,
    /// Passages embedded per second; nothing where they were there from an earlier run.
    pub(super) filled_per_second: Option<f64>,
    pub(super) hybrid_one: Times,
    pub(super) hybrid_many: Times,
    pub(super) lexical_one: Times,
    pub(super) lexical_many: Times,
    /// The slowest of odd questions, in milliseconds.
    pub(super) odd: f64,
    /// The most memory that the server held.
    pub(super) peak_kib: u64,
}

/// How far the index is, as `/health` says it.
pub(super) struct EmbedProgress {
    pub(super) documents: i64,
    pub(super) chunks: i64,
    pub(super) pending: i64,
    pub(super) state: String,
    reason: Option<String>,
}

/// Starts a server and asks.
pub(super) fn measure(
    program: &Program,
    place: &Workspace,
    questions: &Questions,
    documents: u32,
    seconds: u64,
) -> Result<ServedResults> {
    let repository = place.part_of_mdn(usize::try_from(documents)?)?;
    let server = program.serve(&repository, &place.folder(&format!("data-{documents}"))?)?;
    let measured = measure_queries(&server, place, questions, documents, seconds);
    server.explain(measured)
}

fn measure_queries(
    server: &Server,
    place: &Workspace,
    questions: &Questions,
    documents: u32,
    seconds: u64,
) -> Result<ServedResults> {
    let (filling, filled_per_second) = until_filled(server, i64::from(documents))?;
    let addr = server.addr;
    let paths = |mode: &'static str| questions.some().map(move |question| questions::path(question, mode));
    let others = |mode: &'static str| questions.others().map(move |question| questions::path(question, mode));
    let time = Duration::from_secs(seconds);
    // Warm: what was just written is read once. With questions that are not measured.
    load::one_by_one(addr, others("hybrid").take(50))?;
    println!("one client");
    let hybrid_one = load::one_by_one(addr, paths("hybrid"))?;
    let lexical_one = load::one_by_one(addr, paths("lexical"))?;
    let odd = questions::odd();
    let odd = load::slowest(addr, odd.iter().map(|question| questions::path(question, "hybrid")))?;
    println!("{} clients for {seconds} s, twice", load::CLIENTS);
    let hybrid_many = load::at_once(addr, others("hybrid").skip(50), place, time)?;
    server.forget_log()?;
    let lexical_many = load::at_once(addr, others("lexical"), place, time)?;
    server.forget_log()?;
    let peak_kib = memory::settled_peak_kib(server.id())?;
    let EmbedProgress { documents, chunks, .. } = filling;
    Ok(ServedResults {
        documents,
        chunks,
        filled_per_second,
        hybrid_one,
        hybrid_many,
        lexical_one,
        lexical_many,
        odd,
        peak_kib,
    })
}

/// Waits until all passages of about so many documents have their vectors; says how fast they came.
fn until_filled(server: &Server, documents: i64) -> Result<(EmbedProgress, Option<f64>)> {
    let began = Instant::now();
    let (mut changed, mut reported) = (began, began);
    let mut before = (0, 0);
    let mut first: Option<(Instant, i64)> = None;
    loop {
        let now = filling(server)?;
        // A few files of any repository are no documents.
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
        ensure!(now.state != "degraded", "search has no model: {}", now.reason.unwrap_or_default());
        ensure!(changed.elapsed() < STALL_TIMEOUT, "nothing has changed for {STALL_TIMEOUT:?}: {before:?}");
        ensure!(began.elapsed() < EMBED_TIMEOUT, "not filled after {EMBED_TIMEOUT:?}");
        if reported.elapsed() > PROGRESS_INTERVAL {
            reported = Instant::now();
            println!("embedding: {} of {} passages are left", now.pending, now.chunks);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// How far the index is.
pub(super) fn filling(server: &Server) -> Result<EmbedProgress> {
    let answer = exchange::send(server.addr, &Request::get("/health"))?;
    let health: Value = serde_json::from_str(&answer.body)?;
    let search = health.get("search").filter(|search| search.is_object());
    let search = search.context("GET /health says nothing of search")?;
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
