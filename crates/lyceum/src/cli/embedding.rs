//! Waits until the index has its embeddings, and shows how far they are.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use lyceum_search::{State, Status};

use crate::search::{Index, remaining};

/// How long embedding may make no progress before it is given up.
const STALL_TIMEOUT: Duration = Duration::from_secs(300);

/// How often the progress is updated.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Interval of progress lines if standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Waits until every passage has an embedding, or none can be computed here, or the time is over; returns the status
/// then.
pub(super) async fn until_embedded(index: &Index, limit: Duration) -> anyhow::Result<Status> {
    let (began, mut progress) = (Instant::now(), Progress::new());
    let mut last = (Instant::now(), i64::MAX);
    let status = loop {
        let status = index.search.status().await?;
        if status.pending != last.1 {
            last = (Instant::now(), status.pending);
        }
        progress.show(&status);
        let is_over = began.elapsed() > limit || last.0.elapsed() > STALL_TIMEOUT;
        match status.state {
            State::Ready | State::Degraded => break status,
            // The process that uses the index computes them.
            State::Preparing | State::Indexing | State::Embedding if !index.search.is_leader() => {
                break status;
            }
            State::Opening | State::Preparing | State::Indexing | State::Embedding if is_over => {
                break status;
            }
            State::Opening | State::Preparing | State::Indexing | State::Embedding => {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    };
    progress.end();
    Ok(status)
}

/// What is missing, why, and the command that finishes it; nothing if all is there.
pub(super) fn missing(status: &Status, command: &str) -> Option<String> {
    let Status { chunks, pending, reason, detail, .. } = status;
    let reason = detail.as_ref().or(reason.as_ref());
    match (pending, reason) {
        (0, None) => None,
        (0, Some(reason)) => Some(reason.clone()),
        (_, Some(reason)) => Some(format!(
            "{pending} of {chunks} passages have no embedding: {reason}; then run `{command}` to compute them"
        )),
        (_, None) => Some(format!(
            "{pending} of {chunks} passages have no embedding yet, so search finds them by their words only; run `{command}` to compute them"
        )),
    }
}

/// A bar with the remaining time on a terminal; a line now and then elsewhere.
struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
    /// When embedding began, and how many passages had no embedding then.
    first: Option<(Instant, i64)>,
    line: Instant,
}

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::hidden();
        Self { bar, is_terminal: io::stderr().is_terminal(), first: None, line: Instant::now() }
    }

    fn show(&mut self, status: &Status) {
        let Status { chunks, pending, state, .. } = status;
        // A bar over nothing says nothing.
        if *state != State::Embedding || *pending == 0 {
            return;
        }
        let (since, first) = *self.first.get_or_insert((Instant::now(), *pending));
        if self.is_terminal {
            if self.bar.is_hidden() {
                self.bar = ProgressBar::new(0);
                if let Ok(style) =
                    ProgressStyle::with_template("embedding {wide_bar} {pos}/{len}, {eta} left")
                {
                    self.bar.set_style(style);
                }
            }
            self.bar.set_length(u64::try_from(*chunks).unwrap_or_default());
            self.bar.set_position(u64::try_from(chunks - pending).unwrap_or_default());
        } else if self.line.elapsed() > LINE_INTERVAL {
            self.line = Instant::now();
            let left = remaining(since.elapsed(), first - pending, *pending);
            let left = left.map(|left| format!(", about {left} left")).unwrap_or_default();
            eprintln!("embedding: {} of {chunks} passages{left}", chunks - pending);
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(pending: i64, reason: Option<&str>) -> Status {
        let reason = reason.map(str::to_owned);
        Status { documents: 3, chunks: 9, pending, state: State::Ready, model: None, reason, detail: None }
    }

    #[test]
    fn what_is_missing_is_said_with_the_command_that_computes_it() {
        assert_eq!(missing(&status(0, None), "lyceum sync"), None);
        let some = missing(&status(4, None), "lyceum sync").unwrap();
        assert!(some.starts_with("4 of 9 passages have no embedding yet"), "{some}");
        assert!(some.ends_with("run `lyceum sync` to compute them"), "{some}");
        let why = missing(&status(9, Some("no model")), "lyceum sync").unwrap();
        assert!(why.contains("9 of 9 passages have no embedding: no model;"), "{why}");
    }
}
