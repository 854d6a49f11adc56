//! The tables of sign-in.

use super::load::LoadResults;
use super::sign_in::{SIGN_IN_COUNT, SignInTimes};
use super::token_check::TokenCheckTimes;
use crate::figures::{in_unit, median, quantile, ratio};
use crate::report::{Report, Row, Table};
use crate::wrk::Measured;

/// What the check of a token should stay under, in microseconds.
const MAX_CHECK_US: f64 = 30.0;

/// What a sign-in should stay under, in milliseconds.
const MAX_SIGN_IN_MS: f64 = 10.0;

/// The part of the calls per second that there should be with a token.
const MIN_RATIO: f64 = 0.85;

/// Everything that was measured.
pub(super) struct Results {
    pub(super) checked: TokenCheckTimes,
    pub(super) by_key: SignInTimes,
    pub(super) by_wallet: SignInTimes,
    pub(super) loads: LoadResults,
}

impl Results {
    pub(super) fn report(&self) -> Report {
        let mut report = Report::default();
        let title = format!("The check of a token in the server, {} of them live", self.checked.tokens);
        report.add(Table::of_figures(self.check_rows()).titled(title));
        let title = format!("Sign-in over HTTP, {SIGN_IN_COUNT} of each on one connection");
        let by_key = rows_of("with a key", &self.by_key);
        let by_wallet = rows_of("with a wallet, without the chain", &self.by_wallet);
        report.add(Table::of_figures(by_key.into_iter().chain(by_wallet).collect()).titled(title));
        report.add(Table::of_figures(self.load_rows()).titled("`server_info` at `/mcp`, 64 connections"));
        report
    }

    fn check_rows(&self) -> Vec<Row> {
        let TokenCheckTimes { never_seen, seen, .. } = &self.checked;
        let cases = [("never seen, the database is asked", never_seen), ("seen less than 5 s before", seen)];
        let rows = cases.into_iter().flat_map(|(name, times)| {
            [("p50", times.p50), ("p99", times.p99)].map(|(which, value)| {
                Row::new(format!("{name}: {which}"), in_unit(value, "µs")).below(value, MAX_CHECK_US)
            })
        });
        rows.collect()
    }

    fn load_rows(&self) -> Vec<Row> {
        let LoadResults { open, with_token, without_token } = &self.loads;
        let beside = |all: &[Measured]| {
            let ratio = ratio(&speeds(all), &speeds(open));
            (format!("{}: {ratio:.2} of it", speed(all)), ratio)
        };
        let (figure, ratio) = beside(with_token);
        vec![
            Row::new("`mode = \"open\"`, no token", speed(open)),
            Row::new("`mode = \"oauth\"`, with a token", figure).at_least(ratio, MIN_RATIO),
            Row::new("`mode = \"oauth\"`, no token", beside(without_token).0),
        ]
    }
}

/// A whole sign-in, and what it is made of.
fn rows_of(name: &str, found: &SignInTimes) -> Vec<Row> {
    let SignInTimes { whole, steps, chain, requests } = found;
    let [p50, p99] = [50, 99].map(|percent| quantile(whole.clone(), percent));
    let mut rows = vec![
        Row::new(format!("{name}: median"), in_unit(p50, "ms")).below(p50, MAX_SIGN_IN_MS),
        Row::new(format!("{name}: p99"), in_unit(p99, "ms")),
    ];
    let part = |step: &str, times: &[f64]| {
        Row::new(format!("of which {step}"), format!("{:.2} ms", median(times.to_vec())))
    };
    rows.extend(steps.iter().map(|(step, times)| part(step, times)));
    if *requests > 0 {
        let each = requests / whole.len().max(1);
        rows.push(Row::new(
            format!("the chain's own time in them, for {each} questions, not counted"),
            format!("{:.2} ms", median(chain.clone())),
        ));
    }
    rows
}

#[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^52")]
fn speed(all: &[Measured]) -> String {
    let p99 = median(all.iter().map(|one| one.p99 as f64 / 1000.0).collect());
    format!("{:.0} req/s, p99 {p99:.1} ms", median(speeds(all)))
}

fn speeds(all: &[Measured]) -> Vec<f64> {
    all.iter().map(Measured::per_second).collect()
}

#[cfg(test)]
mod tests;
