//! The tracker: tools record usage events with it. It never fails.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{
    append::{AppendOutcome, append, write_separate},
    event::Event,
    folder::Folder,
    id::Id,
    line::{ServerId, line},
    tally::{Counters, Tally},
};

/// Minimum interval of log lines about failed events.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// How long a full buffer or a stuck lock is remembered before trying again.
const FAILURE_TTL: Duration = Duration::from_secs(1);

/// Settings of the tracker.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The buffer folder; created on demand. Processes of one user may share it.
    pub folder: PathBuf,
    /// Id of this server.
    pub server_id: ServerId,
    /// Maximum size of the buffer while the endpoint is unavailable.
    pub cap_bytes: u64,
}

impl Settings {
    /// Default of `cap_bytes`.
    pub const DEFAULT_MAX_BUFFER_BYTES: u64 = 16 * 1024 * 1024;
}

/// Records events. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tracker(Option<Arc<Open>>);

/// An enabled tracker.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) folder: Folder,
    pub(super) tally: Tally,
    server_id: ServerId,
    cap_bytes: u64,
    /// One thread at a time, so that only processes compete for the file lock.
    state: Mutex<AppendState>,
}

/// Recent failures.
#[derive(Debug, Default)]
struct AppendState {
    full_until: Option<Instant>,
    lock_stuck_until: Option<Instant>,
    next_log: Option<Instant>,
    /// Events refused since the buffer was full.
    refused: u64,
}

impl Tracker {
    /// A tracker that records events.
    pub fn on(settings: Settings) -> Self {
        let Settings { folder, server_id, cap_bytes } = settings;
        let (folder, tally, state) = (Folder::new(folder), Tally::default(), Mutex::default());
        Self(Some(Arc::new(Open { folder, tally, server_id, cap_bytes, state })))
    }

    /// A disabled tracker.
    pub fn off() -> Self {
        Self(None)
    }

    /// Stores an event before it returns; a kill right after loses nothing.
    ///
    /// Failures are counted and logged; the caller doesn't see them.
    pub fn track(&self, event: &Event) {
        if let Some(open) = self.open() {
            open.track(event, Timestamp::now());
        }
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        self.open().map(|open| open.tally.counters()).unwrap_or_default()
    }

    pub(super) fn open(&self) -> Option<&Arc<Open>> {
        self.0.as_ref()
    }
}

impl Open {
    pub(super) fn track(&self, event: &Event, now: Timestamp) {
        let serialized = self.serialize(event, now);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match serialized.and_then(|(id, line)| state.add(self, id, &line)) {
            Ok(AppendOutcome::Appended | AppendOutcome::Separate) => {
                self.tally.recorded.add(1);
                state.log_room();
            }
            Ok(AppendOutcome::Full) => {
                self.tally.refused.add(1);
                state.log_full(self.cap_bytes);
            }
            Err(error) => {
                self.tally.failed.add(1);
                state.log_failure(&error, self.tally.counters().failed);
            }
        }
    }

    fn serialize(&self, event: &Event, now: Timestamp) -> io::Result<(Id, Vec<u8>)> {
        let id = Id::new(now)?;
        Ok((id, line(id, event, &self.server_id, now)?))
    }
}

impl AppendState {
    fn add(&mut self, open: &Open, id: Id, line: &[u8]) -> io::Result<AppendOutcome> {
        if is_pending(self.full_until) {
            return Ok(AppendOutcome::Full);
        }
        let added = if is_pending(self.lock_stuck_until) {
            write_separate(&open.folder, id, line, open.cap_bytes)?
        } else {
            append(&open.folder, id, line, open.cap_bytes)?
        };
        match added {
            AppendOutcome::Appended => {}
            AppendOutcome::Separate if is_pending(self.lock_stuck_until) => {}
            AppendOutcome::Separate => self.lock_stuck_until = Some(Instant::now() + FAILURE_TTL),
            AppendOutcome::Full => self.full_until = Some(Instant::now() + FAILURE_TTL),
        }
        Ok(added)
    }

    fn log_full(&mut self, cap_bytes: u64) {
        if self.refused == 0 {
            tracing::warn!(
                cap_bytes,
                "the analytics buffer is full: dropping new events until the endpoint accepts the buffered ones"
            );
        }
        self.refused += 1;
    }

    fn log_room(&mut self) {
        if self.refused > 0 {
            tracing::info!(refused = self.refused, "the analytics buffer has room again");
            self.refused = 0;
        }
    }

    fn log_failure(&mut self, error: &io::Error, failed: u64) {
        if !is_pending(self.next_log) {
            self.next_log = Some(Instant::now() + LOG_INTERVAL);
            tracing::warn!(
                %error,
                failed,
                "could not store an analytics event: check that the disk is not full and the data folder is writable"
            );
        }
    }
}

fn is_pending(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() < until)
}
