//! What happened that somebody may have to answer for, in order. Lines are added and, past their time, taken away; none
//! is ever changed.

use jiff::Timestamp;

use crate::{DbError, Tx, counters};

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number; they rise.
    pub seq: i64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened, such as `sign_in`.
    pub kind: String,
    /// Who did it, where that is known.
    pub subject: Option<String>,
    /// The program that was used, where that is known.
    pub client: Option<String>,
    /// What else is to be known, as JSON. Never a secret.
    pub detail: String,
}

/// A line to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditRow {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: &'static str,
    /// Who did it.
    pub subject: Option<String>,
    /// The program that was used.
    pub client: Option<String>,
    /// What else is to be known, as JSON.
    pub detail: String,
}

/// Adds a line.
pub fn add(tx: &Tx<'_>, line: &NewAuditRow) -> Result<(), DbError> {
    let seq = counters::reserve(tx, "audit", 1)?;
    tx.execute(
        "INSERT INTO audit (seq, at, kind, subject, client, detail) VALUES ($1, $2, $3, $4, $5, $6)",
        [
            seq.into(),
            line.at.as_millisecond().into(),
            line.kind.into(),
            line.subject.as_deref().into(),
            line.client.as_deref().into(),
            line.detail.as_str().into(),
        ],
    )?;
    Ok(())
}

/// So many lines after that number, in order.
pub fn after(tx: &Tx<'_>, seq: i64, count: i64) -> Result<Vec<Line>, DbError> {
    tx.rows(
        "SELECT seq, at, kind, subject, client, detail FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2",
        [seq.into(), count.into()],
        |row| {
            let at = Timestamp::from_millisecond(row.whole(1)?);
            Ok(Line {
                seq: row.whole(0)?,
                at: at.map_err(|error| DbError::Content(error.to_string()))?,
                kind: row.text(2)?,
                subject: row.maybe_text(3)?,
                client: row.maybe_text(4)?,
                detail: row.text(5)?,
            })
        },
    )
}

/// Deletes rows from before that moment, and the oldest beyond so many: first of what was refused, which strangers can cause,
/// then of all. Says how many were deleted.
pub fn trim(tx: &Tx<'_>, before: Timestamp, max_rows: i64) -> Result<usize, DbError> {
    let expired = tx.execute("DELETE FROM audit WHERE at < $1", [before.as_millisecond().into()])?;
    let count = tx.rows("SELECT count(*) FROM audit", [], |row| row.whole(0))?;
    let excess = count.first().copied().unwrap_or(0) - max_rows;
    if excess <= 0 {
        return Ok(expired);
    }
    let refusals = tx.execute(
        "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE kind IN ('refused', 'sign_in_refused', 'denied') \
         ORDER BY seq LIMIT $1)",
        [excess.into()],
    )?;
    let excess = excess - i64::try_from(refusals).unwrap_or(i64::MAX);
    let others = tx.execute(
        "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit ORDER BY seq LIMIT $1)",
        [excess.max(0).into()],
    )?;
    Ok(expired + refusals + others)
}
