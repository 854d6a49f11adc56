//! The tables of `docs/benchmarks.md`, and which goals are missed.

use std::fmt;

use anyhow::Result;

use super::embedding::{Embedding, Speed};
use super::fresh::Fresh;
use super::load::{CLIENTS, Times};
use super::peers::Peer;
use super::quality::{Comparison, Evaluated, Stage};
use super::served::Served;
use crate::bench::figures::{median, mib};
use crate::bench::line::{self, Line};
use crate::bench::machine::Fact;

/// What one client and many should see, in milliseconds.
const ONE_P50: f64 = 12.0;
const ONE_P99: f64 = 40.0;
const MANY_P95: f64 = 400.0;
const WORDS_P95: f64 = 50.0;
const ODD: f64 = 100.0;

/// What 2,000 documents should take, in seconds, and megabytes.
const BY_WORDS: f64 = 3.0;
const BY_MEANING: f64 = 300.0;
const MEMORY: f64 = 450.0;

/// How many times faster than Python it should embed, and in which part of its memory.
const FASTER: f64 = 1.5;
const PART: f64 = 0.4;

/// Everything that the page says.
#[derive(Default)]
pub(super) struct Report {
    pub(super) quality: Vec<Evaluated>,
    pub(super) served: Option<Served>,
    pub(super) fresh: Option<Fresh>,
    pub(super) embedding: Option<Embedding>,
    pub(super) peers: Vec<Peer>,
    /// Peers that can't be had here.
    pub(super) missing: Vec<String>,
    /// What could not be measured, and why.
    pub(super) problems: Vec<String>,
    pub(super) facts: Vec<Fact>,
}

impl Report {
    /// Takes what was measured, or why it was not.
    pub(super) fn take<T>(&mut self, name: &str, found: Result<T>, put: impl FnOnce(&mut Self, T)) {
        match found {
            Ok(found) => put(self, found),
            Err(error) => {
                let problem = format!("{name}: {error:#}");
                println!("{problem}");
                self.problems.push(problem);
            }
        }
    }

    fn quality_lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for Evaluated { report, compared_with_stages, .. } in &self.quality {
            let both = report.stages.iter().find(|stage| stage.mode == "both");
            if let (Some(both), Some(goal)) = (both, report.goal()) {
                let name = format!("{}: nDCG@10, words and meaning", report.set);
                lines.push(Line::at_least(name, format!("{:.3}", both.ndcg.mean), both.ndcg.mean, goal));
            }
            lines.extend(compared_with_stages.iter().map(|one| of_difference(&report.set, one)));
        }
        lines
    }

    fn served_lines(&self) -> Vec<Line> {
        let Some(served) = &self.served else { return Vec::new() };
        let one = "one client, 500 questions";
        let many = format!("{CLIENTS} clients, each question once");
        let mut lines = vec![
            Line::below(format!("{one}: p50"), "ms", served.hybrid_one.p50, ONE_P50),
            Line::below(format!("{one}: p99"), "ms", served.hybrid_one.p99, ONE_P99),
            Line::below(format!("{many}: p95"), "ms", served.hybrid_many.p95, MANY_P95),
            no_errors(format!("{many}: errors"), &served.hybrid_many),
            Line::new(format!("{many}: answers per second"), format!("{:.0}", served.hybrid_many.per_second)),
            Line::new(format!("{one}, words only: p50"), format!("{:.1} ms", served.words_one.p50)),
            Line::below(format!("{many}, words only: p95"), "ms", served.words_many.p95, WORDS_P95),
            no_errors(format!("{many}, words only: errors"), &served.words_many),
            Line::new(
                format!("{many}, words only: answers per second"),
                format!("{:.0}", served.words_many.per_second),
            ),
            Line::below("one client, the slowest of odd questions".to_owned(), "ms", served.odd, ODD),
            Line::new("memory after all of it, at most".to_owned(), mib(served.peak_kib)),
        ];
        if let Some(speed) = served.filled_per_second {
            lines.push(Line::new(
                "passages embedded per second in the background".to_owned(),
                format!("{speed:.1}"),
            ));
        }
        lines
    }

    fn fresh_lines(&self) -> Vec<Line> {
        let Some(fresh) = &self.fresh else { return Vec::new() };
        let documents = format!("{} documents, {} passages", fresh.documents, fresh.chunks);
        vec![
            Line::below(format!("{documents}: found by words after"), "s", fresh.by_words, BY_WORDS),
            Line::below(
                "each document found by meaning, by how it begins, after".to_owned(),
                "s",
                fresh.by_meaning,
                BY_MEANING,
            ),
            Line::below(
                "every passage found by meaning after".to_owned(),
                "s",
                fresh.by_every_passage,
                BY_MEANING,
            ),
            Line::below("memory until then, at most".to_owned(), "MB", megabytes(fresh.peak_kib), MEMORY),
        ]
    }

    fn embedding_lines(&self) -> Vec<Line> {
        let Some(Embedding { texts, lyceum, python }) = &self.embedding else { return Vec::new() };
        let speed =
            |all: &[Speed]| median(all.iter().map(|one| one.per_second).collect()).unwrap_or(f64::NAN);
        let memory = |all: &[Speed]| all.iter().map(|one| one.peak_rss_kib).max().unwrap_or_default();
        let (ours, theirs) = (speed(lyceum), speed(python));
        let (our_memory, their_memory) = (memory(lyceum), memory(python));
        let part = megabytes(our_memory) / megabytes(their_memory);
        let times = format!("{ours:.1} and {theirs:.1} texts/s: × {:.2}", ours / theirs);
        let parts = format!("{} and {}: {part:.2} of it", mib(our_memory), mib(their_memory));
        vec![
            Line::at_least(
                format!("{texts} texts, lyceum and Python's onnxruntime"),
                times,
                ours / theirs,
                FASTER,
            ),
            Line::with_goal("memory of both, at most".to_owned(), parts, format!("< {PART}"), part < PART),
        ]
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        let all = [self.quality_lines(), self.served_lines(), self.fresh_lines(), self.embedding_lines()];
        all.into_iter().flatten()
    }
}

fn no_errors(name: String, times: &Times) -> Line {
    let figure = format!("{} of {}", times.errors, times.count);
    Line::with_goal(name, figure, "0".to_owned(), times.errors == 0 && times.count > 0)
}

/// Never worse than one stage alone by more than chance.
fn of_difference(set: &str, comparison: &Comparison) -> Line {
    let difference = &comparison.difference;
    let name = format!("{set}: words and meaning beside {} alone", comparison.with);
    let figure = format!("{:+.3} [{:+.3}, {:+.3}]", difference.mean, difference.low, difference.high);
    Line::with_goal(name, figure, "not worse than chance".to_owned(), difference.high >= 0.0)
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.quality.is_empty() {
            self.write_quality(out)?;
        }
        let sets = [
            (self.served.as_ref().map(served_title), self.served_lines()),
            (
                self.fresh.as_ref().map(|_| "From nothing, with the model there".to_owned()),
                self.fresh_lines(),
            ),
            (self.embedding.as_ref().map(|_| "The model alone".to_owned()), self.embedding_lines()),
        ];
        for (title, lines) in sets {
            if let Some(title) = title {
                line::table(out, &title, &lines)?;
            }
        }
        if !self.peers.is_empty() || !self.missing.is_empty() {
            self.write_peers(out)?;
        }
        line::sum_up(out, self.lines())?;
        self.problems.iter().try_for_each(|problem| writeln!(out, "- NOT MEASURED: {problem}"))?;
        writeln!(out)?;
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}

impl Report {
    fn write_quality(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.quality.first().map_or("", |one| one.report.model());
        writeln!(out, "### Quality, with {model}\n")?;
        writeln!(out, "| set | by | nDCG@10 | MRR@10 | recall@100 | hit@3 | p50 ms | p95 ms |")?;
        writeln!(out, "|---|---|--:|--:|--:|--:|--:|--:|")?;
        for Evaluated { report, .. } in &self.quality {
            for Stage { mode, ndcg, mrr, recall, hit, latency } in &report.stages {
                writeln!(
                    out,
                    "| {} | {mode} | {:.3} ± {:.3} | {:.3} | {:.3} | {:.3} | {:.1} | {:.1} |",
                    report.set,
                    ndcg.mean,
                    ndcg.noise,
                    mrr.mean,
                    recall.mean,
                    hit.mean,
                    latency.p50,
                    latency.p95
                )?;
            }
        }
        writeln!(out)?;
        writeln!(out, "| quality | figure | to reach |\n|---|--:|--:|")?;
        self.quality_lines().iter().try_for_each(|line| write!(out, "{line}"))?;
        writeln!(out)
    }

    fn write_peers(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "### Side by side, on the same sets\n")?;
        writeln!(out, "| | set | nDCG@10 | p50 ms | p95 ms | |\n|---|---|--:|--:|--:|---|")?;
        for Evaluated { report, .. } in &self.quality {
            for stage in report.stages.iter().filter(|stage| stage.mode == "both") {
                let (ndcg, latency) = (&stage.ndcg, &stage.latency);
                writeln!(
                    out,
                    "| lyceum | {} | {:.3} | {:.1} | {:.1} | words and meaning |",
                    report.set, ndcg.mean, latency.p50, latency.p95
                )?;
            }
        }
        for Peer { name, set, ndcg, p50, p95, note } in &self.peers {
            writeln!(out, "| {name} | {set} | {ndcg:.3} | {p50:.1} | {p95:.1} | {note} |")?;
        }
        writeln!(out)?;
        self.missing.iter().try_for_each(|reason| writeln!(out, "- not here: {reason}"))?;
        writeln!(out)
    }
}

fn served_title(served: &Served) -> String {
    format!("`GET /api/v1/search`, {} documents in {} passages", served.documents, served.chunks)
}

#[expect(clippy::cast_precision_loss, reason = "KiB far below 2^52")]
fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1_000_000.0
}

#[cfg(test)]
mod tests;
