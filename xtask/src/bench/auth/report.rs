//! The tables of `docs/benchmarks.md`, and which goals are missed.

use std::fmt;

use super::load::Loads;
use super::sign_in::{SignIns, TIMES};
use super::token_check::Checked;
use crate::bench::figures::{median, quantile};
use crate::bench::line::{self, Line, in_unit};
use crate::bench::machine::Fact;
use crate::bench::wrk::Measured;

/// What the check of a token should stay under, in microseconds.
const CHECK: f64 = 30.0;

/// What a sign-in should stay under, in milliseconds.
const SIGN_IN: f64 = 10.0;

/// The part of the calls per second that there should be with a token.
const RATIO: f64 = 0.85;

/// Everything that the page says.
pub(super) struct Report {
    pub(super) checked: Checked,
    pub(super) by_key: SignIns,
    pub(super) by_wallet: SignIns,
    pub(super) loads: Loads,
    pub(super) facts: Vec<Fact>,
}

impl Report {
    fn check_lines(&self) -> Vec<Line> {
        let Checked { never_seen, seen, .. } = &self.checked;
        let cases = [("never seen, the database is asked", never_seen), ("seen less than 5 s before", seen)];
        let lines = cases.into_iter().flat_map(|(name, times)| {
            [("p50", times.p50), ("p99", times.p99)]
                .map(|(which, value)| Line::below(format!("{name}: {which}"), "µs", value, CHECK))
        });
        lines.collect()
    }

    fn sign_in_lines(&self) -> Vec<Line> {
        let by_key = lines_of("with a key", &self.by_key);
        by_key.into_iter().chain(lines_of("with a wallet, without the chain", &self.by_wallet)).collect()
    }

    fn load_lines(&self) -> Vec<Line> {
        let Loads { open, with_token, without_token } = &self.loads;
        let beside = |all: &[Measured]| {
            let ratio = ratio(all, open);
            (format!("{}: {ratio:.2} of it", speed(all)), ratio)
        };
        let (figure, ratio) = beside(with_token);
        vec![
            Line::new("`mode = \"open\"`, no token".to_owned(), speed(open)),
            Line::at_least("`mode = \"oauth\"`, with a token".to_owned(), figure, ratio, RATIO),
            Line::new("`mode = \"oauth\"`, no token".to_owned(), beside(without_token).0),
        ]
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = self.checked.tokens;
        let title = format!("The check of a token in the server, {tokens} of them live");
        line::table(out, &title, &self.check_lines())?;
        let title = format!("Sign-in over HTTP, {TIMES} of each on one connection");
        line::table(out, &title, &self.sign_in_lines())?;
        line::table(out, "`server_info` at `/mcp`, 64 connections", &self.load_lines())?;
        let all = [self.check_lines(), self.sign_in_lines(), self.load_lines()];
        line::sum_up(out, all.into_iter().flatten())?;
        writeln!(out)?;
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}

/// A whole sign-in, and what it is made of.
fn lines_of(name: &str, found: &SignIns) -> Vec<Line> {
    let SignIns { whole, steps, chain, asked } = found;
    let [p50, p99] = [50, 99].map(|percent| quantile(whole.clone(), percent).unwrap_or(f64::NAN));
    let mut lines = vec![
        Line::below(format!("{name}: median"), "ms", p50, SIGN_IN),
        Line::new(format!("{name}: p99"), in_unit(p99, "ms")),
    ];
    let part = |step: &str, times: &[f64]| {
        Line::new(format!("of which {step}"), format!("{:.2} ms", middle(times.to_vec())))
    };
    lines.extend(steps.iter().map(|(step, times)| part(step, times)));
    if *asked > 0 {
        let each = asked / whole.len().max(1);
        lines.push(Line::new(
            format!("the chain's own time in them, for {each} questions, not counted"),
            format!("{:.2} ms", middle(chain.clone())),
        ));
    }
    lines
}

#[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^52")]
fn speed(all: &[Measured]) -> String {
    let per_second = middle(all.iter().map(Measured::per_second).collect());
    let p99 = middle(all.iter().map(|one| one.p99 as f64 / 1000.0).collect());
    format!("{per_second:.0} req/s, p99 {p99:.1} ms")
}

/// The median of the rounds, each compared with itself, for a noisy machine slows neighbours alike.
fn ratio(all: &[Measured], other: &[Measured]) -> f64 {
    middle(all.iter().zip(other).map(|(one, other)| one.per_second() / other.per_second()).collect())
}

fn middle(values: Vec<f64>) -> f64 {
    median(values).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
