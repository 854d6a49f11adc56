//! The event log: changes of documents, in order, for consumers that follow at their own speed.
//!
//! Sequence numbers increase by one in commit order: each writer locks the counter until its commit. So a reader
//! that continues after the last number it saw misses nothing and sees nothing twice.

use jiff::Timestamp;

use crate::{DbError, Row, Tx, counters};

/// Kind of change of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Added or updated.
    Stored,
    /// Removed.
    Removed,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Sequence number.
    pub seq: i64,
    /// Kind of change.
    pub kind: EventKind,
    /// Key of the object it is about.
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
            other => Err(DbError::Content(format!("unknown event kind {other:?}"))),
        }
    }
}

/// Appends events, in order.
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
    for (seq, (kind, key)) in (first..).zip(events) {
        tx.execute(
            "INSERT INTO events (seq, stream, kind, key, at) VALUES ($1, $2, $3, $4, $5)",
            [seq.into(), stream.into(), kind.as_str().into(), key.into(), now.as_millisecond().into()],
        )?;
    }
    Ok(())
}

/// Returns up to `max` events of a stream after sequence number `seq`, oldest first.
pub fn after(tx: &Tx<'_>, stream: &str, seq: i64, max: usize) -> Result<Vec<Event>, DbError> {
    let read = |row: &Row<'_>| {
        Ok(Event {
            seq: row.integer(0)?,
            kind: EventKind::parse(&row.text(1)?)?,
            key: row.text(2)?,
            at: Timestamp::from_millisecond(row.integer(3)?).unwrap_or(Timestamp::UNIX_EPOCH),
        })
    };
    tx.rows(
        "SELECT seq, kind, key, at FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        [stream.into(), seq.into(), i64::try_from(max).unwrap_or(i64::MAX).into()],
        read,
    )
}

/// Last sequence number ever issued; 0 if none.
pub fn last(tx: &Tx<'_>) -> Result<i64, DbError> {
    let found = tx.row("SELECT value FROM counters WHERE name = 'events'", [], |row| row.integer(0))?;
    Ok(found.unwrap_or_default())
}

/// Position of a consumer that keeps no state of its own; 0 at first.
pub fn consumer_position(tx: &Tx<'_>, consumer: &str, stream: &str) -> Result<i64, DbError> {
    let found = tx.row(
        "SELECT seq FROM consumers WHERE name = $1 AND stream = $2",
        [consumer.into(), stream.into()],
        |row| row.integer(0),
    )?;
    Ok(found.unwrap_or_default())
}

/// Advances the position of a consumer; call it in the transaction of the work it did.
pub fn advance_consumer(tx: &Tx<'_>, consumer: &str, stream: &str, seq: i64) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO consumers (name, stream, seq) VALUES ($1, $2, $3)
         ON CONFLICT (name, stream) DO UPDATE SET seq = excluded.seq WHERE consumers.seq < excluded.seq",
        [consumer.into(), stream.into(), seq.into()],
    )?;
    Ok(())
}

/// Deletes the events of a stream up to and including a number. The caller must know that all consumers have seen
/// them.
pub fn delete_up_to(tx: &Tx<'_>, stream: &str, up_to: i64) -> Result<usize, DbError> {
    tx.execute("DELETE FROM events WHERE stream = $1 AND seq <= $2", [stream.into(), up_to.into()])
}

/// Deletes events older than `before` that all registered consumers have seen.
pub fn trim(tx: &Tx<'_>, stream: &str, before: Timestamp) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM events WHERE stream = $1 AND at < $2
         AND seq <= (SELECT coalesce(min(seq), $3) FROM consumers WHERE stream = $1)",
        [stream.into(), before.as_millisecond().into(), i64::MAX.into()],
    )
}
