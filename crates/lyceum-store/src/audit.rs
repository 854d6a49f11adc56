//! The append-only audit log. Rows are added and, past their retention, deleted; none is ever changed.

use jiff::Timestamp;

use crate::{DbError, Tx, counters};

/// A row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Sequence number, increasing.
    pub seq: i64,
    /// When it happened.
    pub at: Timestamp,
    /// Kind of event, such as `sign_in`.
    pub kind: String,
    /// Subject who did it, if known.
    pub subject: Option<String>,
    /// Client that was used, if known.
    pub client: Option<String>,
    /// Details as JSON. Never a secret.
    pub detail: String,
}

/// A row to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditRow {
    /// When it happened.
    pub at: Timestamp,
    /// Kind of event.
    pub kind: &'static str,
    /// Subject who did it.
    pub subject: Option<String>,
    /// Client that was used.
    pub client: Option<String>,
    /// Details as JSON.
    pub detail: String,
}

/// Adds a row.
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

/// Returns up to `count` rows after sequence number `seq`, in order.
pub fn after(tx: &Tx<'_>, seq: i64, count: i64) -> Result<Vec<AuditRow>, DbError> {
    tx.rows(
        "SELECT seq, at, kind, subject, client, detail FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2",
        [seq.into(), count.into()],
        |row| {
            let at = Timestamp::from_millisecond(row.integer(1)?);
            Ok(AuditRow {
                seq: row.integer(0)?,
                at: at.map_err(|error| DbError::Content(error.to_string()))?,
                kind: row.text(2)?,
                subject: row.maybe_text(3)?,
                client: row.maybe_text(4)?,
                detail: row.text(5)?,
            })
        },
    )
}

/// Deletes rows older than `before`, then the oldest rows beyond `max_rows`: refusals first, because strangers can
/// cause them, then all kinds. Returns the number of deleted rows.
pub fn trim(tx: &Tx<'_>, before: Timestamp, max_rows: i64) -> Result<usize, DbError> {
    let expired = tx.execute("DELETE FROM audit WHERE at < $1", [before.as_millisecond().into()])?;
    let count = tx.rows("SELECT count(*) FROM audit", [], |row| row.integer(0))?;
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
