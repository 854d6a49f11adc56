//! Counters: increasing numbers, never issued twice.

use crate::{DbError, Tx};

/// Reserves `count` numbers of a counter and returns the first. Locks the counter until the commit, so numbers
/// increase in commit order.
pub(crate) fn reserve(tx: &Tx<'_>, counter: &str, count: usize) -> Result<i64, DbError> {
    reserve_marked(tx, counter, count, 0)
}

/// Like [`reserve`]; the counter keeps `mark` until the next time.
pub(crate) fn reserve_marked(tx: &Tx<'_>, counter: &str, count: usize, mark: i64) -> Result<i64, DbError> {
    if count == 0 {
        return Ok(0);
    }
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last = tx.row(
        "INSERT INTO counters (name, value, mark) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value, mark = excluded.mark
         RETURNING value",
        [counter.into(), count.into(), mark.into()],
        |row| row.integer(0),
    )?;
    Ok(last.unwrap_or_default() - count + 1)
}

/// The last number issued, and its mark; zeros if none.
pub(crate) fn last(tx: &Tx<'_>, counter: &str) -> Result<(i64, i64), DbError> {
    let found = tx.row("SELECT value, mark FROM counters WHERE name = $1", [counter.into()], |row| {
        Ok((row.integer(0)?, row.integer(1)?))
    })?;
    Ok(found.unwrap_or_default())
}

/// Raises a counter to a number, unless it is higher.
pub(crate) fn raise(tx: &Tx<'_>, counter: &str, to: i64) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO counters (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE counters.value < excluded.value",
        [counter.into(), to.into()],
    )?;
    Ok(())
}
