//! The event log: changes of documents, in order, for consumers that follow at their own speed.
//!
//! The sequence numbers of a stream increase by one in commit order: each writer locks the stream's counter until its
//! commit. So a reader that continues after the last number it saw misses nothing and sees nothing twice. A database that
//! went back (a restored backup, a failover that lost commits) issues the same numbers again for other events; the random
//! mark of each append tells them apart.

use std::fmt;

use jiff::Timestamp;

use crate::{DbError, Row, Tx, counters, error::DriverError};

/// Kind of change of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Added or updated.
    Stored,
    /// Removed.
    Removed,
}

/// A position in a stream: the last event that a follower has seen. The default is before the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Sequence number; 0 before the first event.
    pub seq: i64,
    /// Mark of the append that wrote the event; 0 for those of schemas without marks.
    pub mark: i64,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where it is in its stream.
    pub position: Position,
    /// Kind of change.
    pub kind: EventKind,
    /// Key of the object it is about.
    pub key: String,
    /// When.
    pub at: Timestamp,
}

/// What happened in a stream after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing.
    Nothing,
    /// These events, up to the last.
    Events(Vec<Event>),
    /// Not known, because there were too many events, old ones were deleted, or the database went back. The follower must
    /// read everything again.
    Unknown,
}

impl Since {
    /// The events, if they are known.
    pub fn into_events(self) -> Vec<Event> {
        match self {
            Self::Events(events) => events,
            Self::Nothing | Self::Unknown => Vec::new(),
        }
    }
}

impl Position {
    /// Parses what [`Display`](fmt::Display) writes; a number alone has no mark.
    pub fn parse(text: &str) -> Option<Self> {
        let (seq, mark) = text.split_once(':').unwrap_or((text, "0"));
        Some(Self { seq: seq.parse().ok()?, mark: mark.parse().ok()? })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.seq, self.mark)
    }
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

/// Appends events, in order; returns the position of the last.
pub fn append<'a>(
    tx: &Tx<'_>,
    stream: &str,
    events: impl ExactSizeIterator<Item = (EventKind, &'a str)>,
    now: Timestamp,
) -> Result<Position, DbError> {
    if events.len() == 0 {
        return last(tx, stream);
    }
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let mark = random_mark()?;
    let first = counters::reserve_marked(tx, &counter(stream), events.len(), mark)?;
    let at = now.as_millisecond();
    let params = (first..).zip(events).map(|(seq, (kind, key))| {
        [stream.into(), seq.into(), mark.into(), kind.as_str().into(), key.into(), at.into()]
    });
    tx.many("INSERT INTO events (stream, seq, mark, kind, key, at) VALUES ($1, $2, $3, $4, $5, $6)", params)?;
    Ok(Position { seq: first + count - 1, mark })
}

/// Returns what happened in a stream after a position, unless it is more than `max` events.
pub fn since(tx: &Tx<'_>, stream: &str, from: Position, max: usize) -> Result<Since, DbError> {
    let last = last(tx, stream)?;
    if last == from {
        return Ok(Since::Nothing);
    }
    // The event at the position itself shows whether it is still the one that the follower saw.
    let is_start = from.seq == 0;
    let (after_seq, rows) = if is_start { (0, max) } else { (from.seq - 1, max.saturating_add(1)) };
    let mut events = after(tx, stream, after_seq, rows)?;
    if !is_start && (events.is_empty() || events.remove(0).position != from) {
        return Ok(Since::Unknown);
    }
    let is_whole = i64::try_from(events.len()).ok() == Some(last.seq - from.seq);
    Ok(if is_whole { Since::Events(events) } else { Since::Unknown })
}

/// Whether a position is one of this stream's history, as far as that is still known.
pub fn is_known(tx: &Tx<'_>, stream: &str, position: Position) -> Result<bool, DbError> {
    let before = position.seq.saturating_sub(1);
    let found = if position.seq == 0 { Vec::new() } else { after(tx, stream, before, 1)? };
    Ok(position.seq == 0 || found.iter().any(|event| event.position == position))
}

/// Returns up to `max` events of a stream after sequence number `seq`, oldest first.
pub fn after(tx: &Tx<'_>, stream: &str, seq: i64, max: usize) -> Result<Vec<Event>, DbError> {
    let read = |row: &Row<'_>| {
        Ok(Event {
            position: Position { seq: row.integer(0)?, mark: row.integer(1)? },
            kind: EventKind::parse(&row.text(2)?)?,
            key: row.text(3)?,
            at: Timestamp::from_millisecond(row.integer(4)?).unwrap_or(Timestamp::UNIX_EPOCH),
        })
    };
    tx.rows(
        "SELECT seq, mark, kind, key, at FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        [stream.into(), seq.into(), i64::try_from(max).unwrap_or(i64::MAX).into()],
        read,
    )
}

/// Position of the last event ever appended to a stream.
pub fn last(tx: &Tx<'_>, stream: &str) -> Result<Position, DbError> {
    let (seq, mark) = counters::last(tx, &counter(stream))?;
    Ok(Position { seq, mark })
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

/// Deletes the events of a stream before a number. The caller must know that all consumers have seen them.
pub fn delete_before(tx: &Tx<'_>, stream: &str, before: i64) -> Result<usize, DbError> {
    tx.execute("DELETE FROM events WHERE stream = $1 AND seq < $2", [stream.into(), before.into()])
}

/// Deletes events older than `before` that all registered consumers have seen, except the last: followers recognise
/// their position by it.
pub fn trim(tx: &Tx<'_>, stream: &str, before: Timestamp) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM events WHERE stream = $1 AND at < $2
         AND seq <= (SELECT coalesce(min(seq), $3) FROM consumers WHERE stream = $1) AND seq < $4",
        [stream.into(), before.as_millisecond().into(), i64::MAX.into(), last(tx, stream)?.seq.into()],
    )
}

fn counter(stream: &str) -> String {
    format!("events:{stream}")
}

/// A mark that no other append has, and not 0.
fn random_mark() -> Result<i64, DbError> {
    let random = getrandom::u64().map_err(|error| DbError::Sql(DriverError::new(&error)))?;
    Ok(i64::try_from(random >> 1).unwrap_or(i64::MAX) | 1)
}
