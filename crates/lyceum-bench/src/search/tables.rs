//! Tables of the `search` benchmark.

use anyhow::Result;

use super::embedding::{Embedding, Speed};
use super::fresh::FreshnessTimes;
use super::load::{CLIENTS, Times};
use super::peers::Peer;
use super::quality::{Comparison, SetEvaluation, Stage};
use super::served::ServedResults;
use crate::figures::{in_unit, median, megabytes, mib};
use crate::report::{Report, Row, Table};

/// Latency goals, in milliseconds.
const MAX_ONE_P50_MS: f64 = 12.0;
const MAX_ONE_P99_MS: f64 = 40.0;
const MAX_MANY_P95_MS: f64 = 400.0;
const MAX_LEXICAL_P95_MS: f64 = 50.0;
const MAX_ODD_MS: f64 = 100.0;

/// Goals for indexing 2,000 documents, in seconds and megabytes.
const MAX_LEXICAL_S: f64 = 3.0;
const MAX_VECTOR_S: f64 = 300.0;
const MAX_MEMORY_MB: f64 = 450.0;

/// Goals for embedding, relative to Python: speed and memory.
const MIN_SPEEDUP: f64 = 1.5;
const MAX_MEMORY_RATIO: f64 = 0.4;

/// All results.
#[derive(Default)]
pub(super) struct Results {
    pub(super) quality: Vec<SetEvaluation>,
    pub(super) served: Option<ServedResults>,
    pub(super) fresh: Option<FreshnessTimes>,
    pub(super) embedding: Option<Embedding>,
    pub(super) peers: Vec<Peer>,
    /// Unavailable peers.
    pub(super) missing: Vec<String>,
    /// Measurements that failed, with the reason.
    pub(super) problems: Vec<String>,
}

impl Results {
    /// Records a result or its failure.
    pub(super) fn record<T>(&mut self, name: &str, result: Result<T>, store: impl FnOnce(&mut Self, T)) {
        match result {
            Ok(result) => store(self, result),
            Err(error) => {
                let problem = format!("{name}: {error:#}");
                println!("{problem}");
                self.problems.push(problem);
            }
        }
    }

    pub(super) fn report(&self) -> Report {
        let mut report = Report::default();
        if !self.quality.is_empty() {
            report.add(self.stages());
            report.add(Table::new(&["quality", "figure"], self.quality_rows()));
        }
        if let Some(served) = &self.served {
            report.add(Table::of_figures(served_rows(served)).titled(served_title(served)));
        }
        if let Some(fresh) = &self.fresh {
            report.add(Table::of_figures(fresh_rows(fresh)).titled("From an empty index, model installed"));
        }
        if let Some(embedding) = &self.embedding {
            report.add(Table::of_figures(embedding_rows(embedding)).titled("Embedding alone"));
        }
        if !self.peers.is_empty() || !self.missing.is_empty() {
            report.add(self.side_by_side());
        }
        if !self.missing.is_empty() {
            let missing: Vec<String> = self.missing.iter().map(|why| format!("- not here: {why}")).collect();
            report.say(missing.join("\n"));
        }
        report
    }

    /// Quality of each search mode on each test set.
    fn stages(&self) -> Table {
        let row = |set: &str, stage: &Stage| {
            let Stage { mode, ndcg, mrr, recall, hit, latency } = stage;
            let figures = vec![
                mode.clone(),
                format!("{:.3} ± {:.3}", ndcg.mean, ndcg.noise),
                format!("{:.3}", mrr.mean),
                format!("{:.3}", recall.mean),
                format!("{:.3}", hit.mean),
                format!("{:.1}", latency.p50),
                format!("{:.1}", latency.p95),
            ];
            Row::of_figures(set, figures)
        };
        let rows = self.quality.iter().flat_map(|SetEvaluation { report, .. }| {
            report.stages.iter().map(move |stage| row(&report.set, stage))
        });
        let columns = ["set", "by", "nDCG@10", "MRR@10", "recall@100", "hit@3", "p50 ms", "p95 ms"];
        let model = self.quality.first().map_or("", |one| one.report.model());
        Table::new(&columns, rows.collect()).titled(format!("Quality, with {model}"))
    }

    fn quality_rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for SetEvaluation { report, compared_with_stages, .. } in &self.quality {
            let hybrid = report.stages.iter().find(|stage| stage.mode == "hybrid");
            if let (Some(hybrid), Some(goal)) = (hybrid, report.goal()) {
                let name = format!("{}: nDCG@10, hybrid", report.set);
                rows.push(
                    Row::new(name, format!("{:.3}", hybrid.ndcg.mean)).at_least(hybrid.ndcg.mean, goal),
                );
            }
            rows.extend(compared_with_stages.iter().map(|one| difference_row(&report.set, one)));
        }
        rows
    }

    /// Lyceum and other programs on the same test sets.
    fn side_by_side(&self) -> Table {
        let row = |name: &str, set: &str, [ndcg, p50, p95]: [f64; 3], note: &str| {
            let figures = [format!("{ndcg:.3}"), format!("{p50:.1}"), format!("{p95:.1}"), note.to_owned()];
            Row::of_figures(name, [&[set.to_owned()], &figures[..]].concat())
        };
        let mut rows = Vec::new();
        for SetEvaluation { report, .. } in &self.quality {
            for stage in report.stages.iter().filter(|stage| stage.mode == "hybrid") {
                let figures = [stage.ndcg.mean, stage.latency.p50, stage.latency.p95];
                rows.push(row("lyceum", &report.set, figures, "hybrid"));
            }
        }
        for Peer { name, set, ndcg, p50, p95, note } in &self.peers {
            rows.push(row(name, set, [*ndcg, *p50, *p95], note));
        }
        let columns = ["", "set", "nDCG@10", "p50 ms", "p95 ms", ""];
        Table::new(&columns, rows).titled("Side by side, on the same sets")
    }
}

fn served_title(served: &ServedResults) -> String {
    format!("`GET /api/v1/search`, {} documents in {} chunks", served.documents, served.chunks)
}

fn served_rows(served: &ServedResults) -> Vec<Row> {
    let one = "one client, 500 queries";
    let many = format!("{CLIENTS} clients, each query once");
    let ServedResults { hybrid_one, hybrid_many, lexical_one, lexical_many, odd, .. } = served;
    let mut rows = vec![
        below(format!("{one}: p50"), "ms", hybrid_one.p50, MAX_ONE_P50_MS),
        below(format!("{one}: p99"), "ms", hybrid_one.p99, MAX_ONE_P99_MS),
        below(format!("{many}: p95"), "ms", hybrid_many.p95, MAX_MANY_P95_MS),
        no_errors(format!("{many}: errors"), hybrid_many),
        Row::new(format!("{many}: requests per second"), format!("{:.0}", hybrid_many.per_second)),
        Row::new(format!("{one}, lexical only: p50"), format!("{:.1} ms", lexical_one.p50)),
        below(format!("{many}, lexical only: p95"), "ms", lexical_many.p95, MAX_LEXICAL_P95_MS),
        no_errors(format!("{many}, lexical only: errors"), lexical_many),
        Row::new(
            format!("{many}, lexical only: requests per second"),
            format!("{:.0}", lexical_many.per_second),
        ),
        below("one client, the slowest of odd queries", "ms", *odd, MAX_ODD_MS),
        Row::new("peak memory after all of it", mib(served.peak_kib)),
    ];
    if let Some(speed) = served.embedded_per_second {
        rows.push(Row::new("chunks embedded per second in the background", format!("{speed:.1}")));
    }
    rows
}

fn fresh_rows(fresh: &FreshnessTimes) -> Vec<Row> {
    let documents = format!("{} documents, {} chunks", fresh.documents, fresh.chunks);
    let first_chunks = "first chunk of each document embedded after";
    vec![
        below(format!("{documents}: in the lexical index after"), "s", fresh.lexical_seconds, MAX_LEXICAL_S),
        below(first_chunks, "s", fresh.first_chunks_seconds, MAX_VECTOR_S),
        below("every chunk embedded after", "s", fresh.all_chunks_seconds, MAX_VECTOR_S),
        below("peak memory until then", "MB", megabytes(fresh.peak_kib), MAX_MEMORY_MB),
    ]
}

fn embedding_rows(embedding: &Embedding) -> Vec<Row> {
    let Embedding { texts, lyceum, python } = embedding;
    let speed = |all: &[Speed]| median(all.iter().map(|one| one.per_second).collect());
    let memory = |all: &[Speed]| all.iter().map(|one| one.peak_rss_kib).max().unwrap_or_default();
    let (ours, theirs) = (speed(lyceum), speed(python));
    let (our_memory, their_memory) = (memory(lyceum), memory(python));
    let (times, part) = (ours / theirs, megabytes(our_memory) / megabytes(their_memory));
    let speeds = format!("{ours:.1} and {theirs:.1} texts/s: × {times:.2}");
    let parts = format!("{} and {} (× {part:.2})", mib(our_memory), mib(their_memory));
    vec![
        Row::new(format!("{texts} texts, lyceum and Python's onnxruntime"), speeds)
            .at_least(times, MIN_SPEEDUP),
        Row::new("peak memory of both", parts).below(part, MAX_MEMORY_RATIO),
    ]
}

fn below(name: impl Into<String>, unit: &str, value: f64, goal: f64) -> Row {
    Row::new(name, in_unit(value, unit)).below(value, goal)
}

fn no_errors(name: String, times: &Times) -> Row {
    let figure = format!("{} of {}", times.errors, times.count);
    Row::new(name, figure).goal("0", times.errors == 0 && times.count > 0)
}

/// Hybrid search must not be significantly worse than one stage alone.
fn difference_row(set: &str, comparison: &Comparison) -> Row {
    let difference = &comparison.difference;
    let name = format!("{set}: hybrid compared with {} alone", comparison.with);
    let figure = format!("{:+.3} [{:+.3}, {:+.3}]", difference.mean, difference.low, difference.high);
    Row::new(name, figure).goal("not worse than chance", difference.high >= 0.0)
}

#[cfg(test)]
mod tests;
