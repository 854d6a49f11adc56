//! Events: what happened to documents, in order, for whoever follows at their own pace.
//!
//! Numbers rise by one in the order of the commits, whoever writes: each writer holds the counter until its commit. So a
//! reader that knows the last number it saw misses nothing and sees nothing twice.

use jiff::Timestamp;

use crate::{DbError, Row, Tx, counters};

/// What happened to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// It is there, new or in a new version.
    Stored,
    /// It is gone.
    Removed,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number.
    pub seq: i64,
    /// What happened.
    pub happened: EventKind,
    /// To what: a key of the object store.
    pub key: String,
    /// When.
    pub at: Timestamp,
}

impl EventKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Removed => "removed",
        }
    }

    fn parse(text: &str) -> Result<Self, DbError> {
        match text {
            "stored" => Ok(Self::Stored),
            "removed" => Ok(Self::Removed),
            other => Err(DbError::Content(format!("an event of the kind {other:?}"))),
        }
    }
}

/// Writes events down, in order.
pub fn append<'a>(
    tx: &Tx<'_>,
    stream: &str,
    events: impl ExactSizeIterator<Item = (EventKind, &'a str)>,
    now: Timestamp,
) -> Result<(), DbError> {
    if events.len() == 0 {
        return Ok(());
    }
    let first = counters::reserve(tx, "events", events.len())?;
    for (seq, (happened, key)) in (first..).zip(events) {
        tx.execute(
            "INSERT INTO events (seq, stream, kind, key, at) VALUES ($1, $2, $3, $4, $5)",
            [seq.into(), stream.into(), happened.as_str().into(), key.into(), now.as_millisecond().into()],
        )?;
    }
    Ok(())
}

/// The events of a stream after a number, the oldest first.
pub fn after(tx: &Tx<'_>, stream: &str, seq: i64, most: usize) -> Result<Vec<Event>, DbError> {
    let read = |row: &Row<'_>| {
        Ok(Event {
            seq: row.whole(0)?,
            happened: EventKind::parse(&row.text(1)?)?,
            key: row.text(2)?,
            at: Timestamp::from_millisecond(row.whole(3)?).unwrap_or(Timestamp::UNIX_EPOCH),
        })
    };
    tx.rows(
        "SELECT seq, kind, key, at FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        [stream.into(), seq.into(), i64::try_from(most).unwrap_or(i64::MAX).into()],
        read,
    )
}

/// The number of the last event that was ever written; 0 before the first.
pub fn last(tx: &Tx<'_>) -> Result<i64, DbError> {
    let found = tx.row("SELECT value FROM counters WHERE name = 'events'", [], |row| row.whole(0))?;
    Ok(found.unwrap_or_default())
}

/// How far a consumer has come, for one that keeps nothing itself; 0 before its first.
pub fn seen_by(tx: &Tx<'_>, consumer: &str, stream: &str) -> Result<i64, DbError> {
    let found = tx.row(
        "SELECT seq FROM consumers WHERE name = $1 AND stream = $2",
        [consumer.into(), stream.into()],
        |row| row.whole(0),
    )?;
    Ok(found.unwrap_or_default())
}

/// Writes down how far a consumer has come, in the transaction of what it did.
pub fn mark_seen(tx: &Tx<'_>, consumer: &str, stream: &str, seq: i64) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO consumers (name, stream, seq) VALUES ($1, $2, $3)
         ON CONFLICT (name, stream) DO UPDATE SET seq = excluded.seq WHERE consumers.seq < excluded.seq",
        [consumer.into(), stream.into(), seq.into()],
    )?;
    Ok(())
}

/// Takes away the events of a stream up to a number, for whoever knows that all of them were seen.
pub fn forget(tx: &Tx<'_>, stream: &str, up_to: i64) -> Result<usize, DbError> {
    tx.execute("DELETE FROM events WHERE stream = $1 AND seq <= $2", [stream.into(), up_to.into()])
}

/// Takes away events that every registered consumer has seen and that are older than a moment.
pub fn trim(tx: &Tx<'_>, stream: &str, before: Timestamp) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM events WHERE stream = $1 AND at < $2
         AND seq <= (SELECT coalesce(min(seq), $3) FROM consumers WHERE stream = $1)",
        [stream.into(), before.as_millisecond().into(), i64::MAX.into()],
    )
}
