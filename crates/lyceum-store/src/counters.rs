//! Counters: increasing numbers, never issued twice.

use crate::{DbError, Tx};

/// Reserves `count` numbers of a counter and returns the first. Locks the counter until the commit, so numbers
/// increase in commit order.
pub(crate) fn reserve(tx: &Tx<'_>, counter: &str, count: usize) -> Result<i64, DbError> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last = tx.row(
        "INSERT INTO counters (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value RETURNING value",
        [counter.into(), count.into()],
        |row| row.integer(0),
    )?;
    Ok(last.unwrap_or_default() - count + 1)
}
