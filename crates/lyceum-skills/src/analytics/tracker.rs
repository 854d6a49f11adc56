//! The tracker: where tools say what happened. It never fails them.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{
    append::{AppendOutcome, add_alone, append},
    event::Event,
    folder::Folder,
    id::Id,
    line::{ServerId, line},
    tally::{Figures, Tally},
};

/// How often the log tells of events that could not be written down.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// How long nothing is tried again that was just seen to fail: room under the cap, and a lock that is stuck.
const FAILURE_TTL: Duration = Duration::from_secs(1);

/// Where events go, and how much of them.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of the buffer; made if need be. Processes of one user may share it.
    pub folder: PathBuf,
    /// Which server the events are from.
    pub server_id: ServerId,
    /// How large the buffer may grow while the endpoint takes nothing.
    pub cap_bytes: u64,
}

impl Settings {
    /// The cap unless configured otherwise.
    pub const DEFAULT_MAX_BUFFER_BYTES: u64 = 16 * 1024 * 1024;
}

/// Takes events. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tracker(Option<Arc<Open>>);

/// A tracker that is on.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) folder: Folder,
    pub(super) tally: Tally,
    server_id: ServerId,
    cap_bytes: u64,
    /// One thread at a time, so that those of this process wait in line and only processes compete for the lock.
    turn: Mutex<Turn>,
}

/// What the last events met.
#[derive(Debug, Default)]
struct Turn {
    full_until: Option<Instant>,
    stuck_until: Option<Instant>,
    tell_again: Option<Instant>,
    /// Events refused since the buffer was full.
    refused: u64,
}

impl Tracker {
    /// A tracker that writes events down.
    pub fn on(settings: Settings) -> Self {
        let Settings { folder, server_id, cap_bytes } = settings;
        let (folder, tally, turn) = (Folder::new(folder), Tally::default(), Mutex::default());
        Self(Some(Arc::new(Open { folder, tally, server_id, cap_bytes, turn })))
    }

    /// A tracker that does nothing, for those who don't want analytics.
    pub fn off() -> Self {
        Self(None)
    }

    /// Writes an event down, before it returns; a kill right after loses nothing.
    ///
    /// What goes wrong is counted and logged, and no concern of the caller.
    pub fn track(&self, event: &Event) {
        if let Some(open) = self.open() {
            open.track(event, Timestamp::now());
        }
    }

    /// What became of the events so far.
    pub fn figures(&self) -> Figures {
        self.open().map(|open| open.tally.figures()).unwrap_or_default()
    }

    pub(super) fn open(&self) -> Option<&Arc<Open>> {
        self.0.as_ref()
    }
}

impl Open {
    pub(super) fn track(&self, event: &Event, now: Timestamp) {
        let written = self.written(event, now);
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        match written.and_then(|(id, line)| turn.add(self, id, &line)) {
            Ok(AppendOutcome::Yes | AppendOutcome::Alone) => {
                self.tally.recorded.add(1);
                turn.log_room();
            }
            Ok(AppendOutcome::Full) => {
                self.tally.refused.add(1);
                turn.log_full(self.cap_bytes);
            }
            Err(error) => {
                self.tally.failed.add(1);
                turn.log_failure(&error, self.tally.figures().failed);
            }
        }
    }

    fn written(&self, event: &Event, now: Timestamp) -> io::Result<(Id, Vec<u8>)> {
        let id = Id::new(now)?;
        Ok((id, line(id, event, &self.server_id, now)?))
    }
}

impl Turn {
    fn add(&mut self, open: &Open, id: Id, line: &[u8]) -> io::Result<AppendOutcome> {
        if still(self.full_until) {
            return Ok(AppendOutcome::Full);
        }
        let added = if still(self.stuck_until) {
            add_alone(&open.folder, id, line, open.cap_bytes)?
        } else {
            append(&open.folder, id, line, open.cap_bytes)?
        };
        match added {
            AppendOutcome::Yes => {}
            AppendOutcome::Alone if still(self.stuck_until) => {}
            AppendOutcome::Alone => self.stuck_until = Some(Instant::now() + FAILURE_TTL),
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
        if !still(self.tell_again) {
            self.tell_again = Some(Instant::now() + LOG_INTERVAL);
            tracing::warn!(
                %error,
                failed,
                "could not store an analytics event: check that the disk is not full and the data folder is writable"
            );
        }
    }
}

fn still(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() < until)
}
