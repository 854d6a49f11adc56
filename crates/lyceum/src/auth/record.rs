//! The record of calls that were refused to somebody known, and of calls that write. Calls do not wait for the disk: what happened is handed on and written
//! together. Where more happens than can be written, it is told how much is missing.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use jiff::Timestamp;
use lyceum_auth::{Auth, Event};
use lyceum_tools::{Witness, Witnessed};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How much may wait to be written, and how much is written together.
const WAITING: usize = 4096;
const TOGETHER: usize = 256;

/// Where events go in.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    events: mpsc::Sender<(Event, Timestamp)>,
    missed: Arc<AtomicU64>,
}

/// Where they come out.
#[derive(Debug)]
pub(crate) struct Pending {
    events: mpsc::Receiver<(Event, Timestamp)>,
    missed: Arc<AtomicU64>,
}

/// Both ends of a record.
pub(crate) fn record() -> (Record, Pending) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let missed = Arc::new(AtomicU64::new(0));
    (Record { events: sender, missed: missed.clone() }, Pending { events: receiver, missed })
}

impl Record {
    /// Tells what the gate and the tools see.
    pub(crate) fn witness(&self) -> Witness {
        let record = self.clone();
        Witness::new(move |witnessed| match witnessed {
            // Strangers are told to sign in as often as they ask; they could fill a disk with that.
            Witnessed::Refused { caller, tool, denied } => {
                if let Some(subject) = caller.subject() {
                    record.add(Event::refused(subject, tool, &denied.to_string()));
                }
            }
            Witnessed::Wrote { caller, tool, went_well } => {
                let outcome = if went_well { "done" } else { "failed" };
                record.add(Event::wrote(caller.subject(), tool, outcome));
            }
        })
    }

    fn add(&self, event: Event) {
        if self.events.try_send((event, Timestamp::now())).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Pending {
    /// Writes until the server stops, and then what is left.
    pub(crate) async fn write(mut self, auth: Auth, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(TOGETHER);
        loop {
            let count = tokio::select! {
                count = self.events.recv_many(&mut batch, TOGETHER) => count,
                () = stop.cancelled() => {
                    self.events.close();
                    self.events.recv_many(&mut batch, TOGETHER).await
                }
            };
            if count == 0 {
                return;
            }
            let missed = self.missed.swap(0, Ordering::Relaxed);
            if missed > 0 {
                batch.push((Event::missed(missed), Timestamp::now()));
            }
            if let Err(error) = auth.record_all(std::mem::take(&mut batch)).await {
                tracing::error!(error.cause = %error, events = count, "the record could not be written");
            }
        }
    }
}
