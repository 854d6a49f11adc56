//! The audit log of calls by authenticated callers: refusals and writes.
//!
//! The response is sent after the row is on disk. Anonymous calls are counted but not recorded, because they could fill the disk.
//! Rows of failed calls are rate limited per subject; the next row says how many were dropped.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::FutureExt;
use jiff::Timestamp;
use lyceum_auth::{Auth, Event};
use lyceum_model::{Caller, Tier};
use lyceum_tools::{AuditEvent, AuditSink, NotRecorded, Recorded, WriteOutcome};
use quick_cache::sync::Cache;

use crate::{
    tasks::Tasks,
    telemetry::{AuditMetrics, Disposition},
    token_bucket::{Rate, TokenBucket},
};

/// Token bucket of rows for failed calls per subject: burst, and time per further row.
const ROW_RATE: Rate = Rate { burst: 60, every: Duration::from_secs(10) };

/// Maximum number of subjects with a token bucket.
const MAX_SUBJECTS: usize = 10_000;

/// The audit log of calls. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    auth: Auth,
    tasks: Tasks,
    metrics: AuditMetrics,
    budgets: Cache<String, Arc<Mutex<Budget>>>,
}

impl AuditLog {
    /// Creates the log in the database of `auth`; shutdown of `tasks` waits for pending rows.
    pub(crate) fn new(auth: Auth, tasks: Tasks, metrics: AuditMetrics) -> Self {
        Self(Arc::new(Inner { auth, tasks, metrics, budgets: Cache::new(MAX_SUBJECTS) }))
    }

    /// The sink for events of the gate and the tools.
    pub(crate) fn sink(&self) -> AuditSink {
        let log = self.clone();
        AuditSink::new(move |event| log.record(event))
    }

    fn record(&self, event: AuditEvent<'_>) -> Recorded {
        let (caller, is_limited) = match event {
            AuditEvent::Refused { caller, .. } => (caller, true),
            AuditEvent::Wrote { caller, outcome, .. } => (caller, is_limited(caller, outcome)),
            AuditEvent::Approved { caller, .. } => (caller, false),
        };
        let Some(subject) = caller.subject() else {
            self.0.metrics.count(Disposition::Anonymous);
            return futures::future::ready(Ok(())).boxed();
        };
        let mut left_out = 0;
        if is_limited {
            match self.budget(subject, Instant::now()) {
                Ok(count) => left_out = count,
                Err(RowOmitted) => {
                    self.0.metrics.count(Disposition::LeftOut);
                    return futures::future::ready(Ok(())).boxed();
                }
            }
        }
        let (event, action) = match event {
            AuditEvent::Refused { tool, denied, .. } => {
                (Event::refused(subject, tool, &denied.to_string()), None)
            }
            AuditEvent::Wrote { tool, outcome, .. } => (Event::wrote(subject, tool, outcome.as_str()), None),
            AuditEvent::Approved { tool, action, detail, .. } => {
                (Event::approved(subject, tool, action, detail), Some(action.to_owned()))
            }
        };
        self.write(event.after_left_out(left_out), action)
    }

    /// Writes a row in its own task, so that it is written even if the call is cancelled. Pending rows are bounded by the number
    /// of concurrent writes, which wait for the database queue.
    /// An event about an action is written once.
    fn write(&self, event: Event, action: Option<String>) -> Recorded {
        let (log, now) = (self.clone(), Timestamp::now());
        let written = self.0.tasks.spawn_to_its_end(async move {
            let written = match action {
                Some(action) => log.0.auth.record_once(action, event, now).await,
                None => log.0.auth.record(event, now).await,
            };
            log.0.metrics.count(if written.is_ok() { Disposition::Recorded } else { Disposition::Failed });
            written.map_err(|error| {
                tracing::error!(error.cause = %error, "could not write to the audit log");
                NotRecorded
            })
        });
        written.map(|written| written.unwrap_or(Err(NotRecorded))).boxed()
    }

    /// Takes a token of the subject's bucket: the number of rows dropped before, or that this one is dropped.
    fn budget(&self, subject: &str, now: Instant) -> Result<u64, RowOmitted> {
        let new = || Ok::<_, std::convert::Infallible>(Arc::new(Mutex::new(Budget::new(now))));
        let Ok(budget) = self.0.budgets.get_or_insert_with(subject, new);
        budget.lock().unwrap_or_else(PoisonError::into_inner).take(now)
    }
}

/// Whether a write failed, or its caller has no tier above public: anyone can sign in.
fn is_limited(caller: &Caller, outcome: WriteOutcome) -> bool {
    caller.tier() == Tier::Public || outcome == WriteOutcome::Failed
}

/// The row is dropped.
#[derive(Debug, PartialEq, Eq)]
struct RowOmitted;

/// The token bucket of one subject.
#[derive(Debug)]
struct Budget {
    rows: TokenBucket,
    left_out: u64,
}

impl Budget {
    fn new(now: Instant) -> Self {
        Self { rows: TokenBucket::new(now), left_out: 0 }
    }

    fn take(&mut self, now: Instant) -> Result<u64, RowOmitted> {
        if self.rows.take(ROW_RATE, now, Duration::ZERO).is_err() {
            self.left_out += 1;
            return Err(RowOmitted);
        }
        Ok(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_adds_so_many_rows_and_the_next_says_how_many_were_left_out() {
        let now = Instant::now();
        let mut budget = Budget::new(now);
        for _ in 0..ROW_RATE.burst {
            assert_eq!(budget.take(now), Ok(0));
        }
        assert_eq!(budget.take(now), Err(RowOmitted));
        assert_eq!(budget.take(now), Err(RowOmitted));
        assert_eq!(budget.take(now + ROW_RATE.every), Ok(2));
        assert_eq!(budget.take(now + ROW_RATE.every), Err(RowOmitted));
    }
}
