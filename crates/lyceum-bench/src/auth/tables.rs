//! Tables of the `auth` benchmark.

use super::load::LoadResults;
use super::sign_in::{SIGN_IN_COUNT, SignInTimes};
use super::token_check::TokenCheckTimes;
use crate::figures::{in_unit, median, quantile, ratio};
use crate::report::{Report, Row, Table};
use crate::wrk::Measured;

/// Goal for token validation, in microseconds.
const MAX_CHECK_US: f64 = 30.0;

/// Goal for a sign-in, in milliseconds.
const MAX_SIGN_IN_MS: f64 = 10.0;

/// Goal for the throughput with a token, relative to the open server.
const MIN_RATIO: f64 = 0.85;

/// All results.
pub(super) struct Results {
    pub(super) checked: TokenCheckTimes,
    pub(super) by_key: SignInTimes,
    pub(super) by_wallet: SignInTimes,
    pub(super) loads: LoadResults,
}

impl Results {
    pub(super) fn report(&self) -> Report {
        let mut report = Report::default();
        let title = format!("Token validation in the server, {} live tokens", self.checked.tokens);
        report.add(Table::of_figures(self.check_rows()).titled(title));
        let title = format!("Sign-in over HTTP, {SIGN_IN_COUNT} times each on one connection");
        let by_key = rows_of("with a key", &self.by_key);
        let by_wallet = rows_of("with a wallet, without the chain's time", &self.by_wallet);
        report.add(Table::of_figures(by_key.into_iter().chain(by_wallet).collect()).titled(title));
        report.add(Table::of_figures(self.load_rows()).titled("`server_info` at `/mcp`, 64 connections"));
        report
    }

    fn check_rows(&self) -> Vec<Row> {
        let TokenCheckTimes { never_seen, seen, .. } = &self.checked;
        let cases =
            [("not cached, read from the database", never_seen), ("cached (seen less than 5 s ago)", seen)];
        let rows = cases.into_iter().flat_map(|(name, times)| {
            [("p50", times.p50), ("p99", times.p99)].map(|(which, value)| {
                Row::new(format!("{name}: {which}"), in_unit(value, "µs")).below(value, MAX_CHECK_US)
            })
        });
        rows.collect()
    }

    fn load_rows(&self) -> Vec<Row> {
        let LoadResults { open, with_token, without_token } = &self.loads;
        let relative_to_open = |all: &[Measured]| {
            let ratio = ratio(&speeds(all), &speeds(open));
            (format!("{} (× {ratio:.2})", speed(all)), ratio)
        };
        let (figure, ratio) = relative_to_open(with_token);
        vec![
            Row::new("`mode = \"open\"`, no token", speed(open)),
            Row::new("`mode = \"oauth\"`, with a token", figure).at_least(ratio, MIN_RATIO),
            Row::new("`mode = \"oauth\"`, no token", relative_to_open(without_token).0),
        ]
    }
}

/// Rows of a sign-in: total and single requests.
fn rows_of(name: &str, times: &SignInTimes) -> Vec<Row> {
    let SignInTimes { total, steps, chain, requests } = times;
    let [p50, p99] = [50, 99].map(|percent| quantile(total.clone(), percent));
    let mut rows = vec![
        Row::new(format!("{name}: median"), in_unit(p50, "ms")).below(p50, MAX_SIGN_IN_MS),
        Row::new(format!("{name}: p99"), in_unit(p99, "ms")),
    ];
    let part = |step: &str, times: &[f64]| {
        Row::new(format!("of which {step}"), format!("{:.2} ms", median(times.to_vec())))
    };
    rows.extend(steps.iter().map(|(step, times)| part(step, times)));
    if *requests > 0 {
        let each = requests / total.len().max(1);
        rows.push(Row::new(
            format!("time of the chain for {each} requests, not counted"),
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
