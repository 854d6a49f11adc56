//! Logs how far the embeddings of an index are: soon after the start, then less and less often, and at the end.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_model::Domain;
use lyceum_search::{Search, State, Status};

/// How often the status is read.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Maximum interval of log lines.
const MAX_LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Logs progress until it is cancelled.
pub(super) async fn log_progress(name: Domain, search: Arc<Search>) {
    let mut progress = Progress::default();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let Ok(status) = search.status().await else { continue };
        match progress.observe(Instant::now(), &status) {
            None => {}
            Some(Step::Embedding { done, of, remaining }) => {
                tracing::info!(service = %name, done, of, remaining, "embedding passages; until then they are found by their words only");
            }
            Some(Step::Done { of, took }) => {
                tracing::info!(service = %name, of, duration_ms = took.as_millis(), "all passages have embeddings");
            }
        }
    }
}

/// Embedding in progress, if there is any.
#[derive(Debug, Default)]
struct Progress {
    /// When it began, and how many passages had no embedding then.
    began: Option<(Instant, i64)>,
    logged: Option<Instant>,
    interval: Duration,
}

/// What is logged.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Embedding { done: i64, of: i64, remaining: Option<String> },
    Done { of: i64, took: Duration },
}

impl Progress {
    fn observe(&mut self, now: Instant, status: &Status) -> Option<Step> {
        let Status { chunks, pending, state, .. } = status;
        match state {
            State::Embedding => {}
            State::Ready => {
                let (began, _) = std::mem::take(self).began?;
                return Some(Step::Done { of: *chunks, took: now - began });
            }
            State::Opening | State::Preparing | State::Indexing | State::Degraded => return None,
        }
        let (began, first) = *self.began.get_or_insert((now, *pending));
        if self.logged.is_some_and(|logged| now - logged < self.interval) {
            return None;
        }
        self.logged = Some(now);
        self.interval = (self.interval * 2).clamp(POLL_INTERVAL, MAX_LOG_INTERVAL);
        let remaining = remaining(now - began, first - pending, *pending);
        Some(Step::Embedding { done: chunks - pending, of: *chunks, remaining })
    }
}

/// The remaining time at the speed so far; `None` before anything is done.
pub(crate) fn remaining(elapsed: Duration, done: i64, left: i64) -> Option<String> {
    if done <= 0 {
        return None;
    }
    let seconds = elapsed.as_secs_f64() / done as f64 * left as f64;
    Some(match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: State, pending: i64) -> Status {
        Status { documents: 10, chunks: 100, pending, state, model: None, reason: None, detail: None }
    }

    #[test]
    fn progress_is_logged_less_and_less_often_and_once_at_the_end() {
        let (mut progress, began) = (Progress::default(), Instant::now());
        assert_eq!(progress.observe(began, &status(State::Preparing, 100)), None);
        let mut logged = Vec::new();
        for seconds in (0..60).step_by(5) {
            let pending = 100 - i64::try_from(seconds).unwrap();
            let now = began + Duration::from_secs(seconds);
            if let Some(Step::Embedding { done, remaining, .. }) =
                progress.observe(now, &status(State::Embedding, pending))
            {
                logged.push((seconds, done, remaining));
            }
        }
        let seconds: Vec<u64> = logged.iter().map(|(seconds, ..)| *seconds).collect();
        assert_eq!(seconds, [0, 5, 15, 35]);
        assert_eq!(logged[2], (15, 15, Some("85 s".to_owned())));
        let end = began + Duration::from_secs(100);
        let done = Step::Done { of: 100, took: Duration::from_secs(100) };
        assert_eq!(progress.observe(end, &status(State::Ready, 0)), Some(done));
        assert_eq!(progress.observe(end, &status(State::Ready, 0)), None);
    }

    #[test]
    fn the_remaining_time_follows_the_speed() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(remaining(elapsed, 0, 100), None);
        assert_eq!(remaining(elapsed, 100, 200).as_deref(), Some("20 s"));
        assert_eq!(remaining(elapsed, 10, 600).as_deref(), Some("10 min"));
    }
}
