//! The table for a terminal: a row per search mode, then the differences.

use std::io::{self, Write};

use lyceum_search::{
    Mode,
    eval::{
        Mean, Report, Stage, Unmatched,
        compare::{self, Baseline, Comparison, QueryChange},
    },
};

use super::SetEvaluation;
use crate::finding::counted;

/// Maximum number of characters of a query that are shown.
const MAX_QUERY_CHARS: usize = 70;

/// Prints the evaluation of one test set.
pub(super) fn print(out: &mut impl Write, evaluated: &SetEvaluation) -> io::Result<()> {
    let SetEvaluation { report, last, skipped_reason, unmatched } = evaluated;
    let Report { set, documents, chunks, model, stages, .. } = report;
    let questions = stages.first().map_or(0, |stage| stage.questions.len());
    write!(
        out,
        "{set}: {}, {}, {}",
        counted(questions, "query", "queries"),
        counted(*documents, "document", "documents"),
        counted(*chunks, "chunk", "chunks")
    )?;
    match model {
        Some(model) => writeln!(out, ", {} ({} dimensions)\n", model.name, model.dimensions)?,
        None => writeln!(out, "\n")?,
    }
    writeln!(
        out,
        "{:<8}  {:^14}  {:^14}  {:^14}  {:^14}  {:>7}  {:>7}  {:>7}",
        "", "nDCG@10", "MRR@10", "recall@100", "hit@3", "p50 ms", "p95 ms", "p99 ms"
    )?;
    for stage in stages {
        row(out, stage)?;
    }
    if let Some(reason) = skipped_reason {
        writeln!(out, "\nvector search was skipped: {reason}")?;
    }
    for stage in stages {
        for problem in &stage.problems {
            writeln!(out, "\n{}: {problem}", mode_name(stage.mode))?;
        }
    }
    for Unmatched { question, expect, nearest } in unmatched {
        let near = nearest.as_ref().map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        writeln!(out, "\nwarning: {expect} is not in the index, so {question:?} can't find it{near}")?;
    }
    writeln!(out)?;
    for comparison in compare::with_stages(report) {
        difference(out, &comparison)?;
    }
    match last {
        None => writeln!(out, "no earlier run to compare with")?,
        Some(last) => {
            for comparison in compare::with_last(report, last) {
                difference(out, &comparison)?;
                changes(out, &comparison)?;
            }
        }
    }
    writeln!(out)
}

/// The name of a search mode.
pub(super) fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Hybrid => "hybrid",
        Mode::Lexical => "lexical",
        Mode::Vector => "vector",
    }
}

fn row(out: &mut impl Write, stage: &Stage) -> io::Result<()> {
    let mean = |Mean { mean, noise }: Mean| format!("{mean:.3} ± {noise:.3}");
    let latency = stage.latency;
    writeln!(
        out,
        "{:<8}  {:^14}  {:^14}  {:^14}  {:^14}  {:>7.1}  {:>7.1}  {:>7.1}",
        mode_name(stage.mode),
        mean(stage.ndcg),
        mean(stage.mrr),
        mean(stage.recall),
        mean(stage.hit),
        latency.p50,
        latency.p95,
        latency.p99
    )
}

fn difference(out: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    let Comparison { mode, with, difference, better_count, worse_count, questions, .. } = comparison;
    let mode = mode_name(*mode);
    let with = match with {
        Baseline::LastRun => format!("{mode} differs from last run"),
        Baseline::Lexical => format!("{mode} differs from lexical"),
        Baseline::Vector => format!("{mode} differs from vector"),
    };
    if better_count + worse_count == 0 {
        return writeln!(out, "{with}: in none of {questions} queries");
    }
    let verdict = if difference.is_significant() { "more than chance" } else { "may be chance" };
    writeln!(
        out,
        "{with}: nDCG@10 {:+.3} [{:+.3}, {:+.3}], {verdict}; {better_count} better, {worse_count} worse of {questions}",
        difference.mean, difference.low, difference.high
    )
}

fn changes(out: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    for (sign, changed) in [('+', &comparison.better), ('-', &comparison.worse)] {
        for one in changed {
            let QueryChange { text, before, now, .. } = one;
            let mut shown: String = text.chars().take(MAX_QUERY_CHARS).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            writeln!(out, "  {sign} {before:.2} → {now:.2}  {}", shown.replace(char::is_control, " "))?;
        }
    }
    Ok(())
}
