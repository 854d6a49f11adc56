//! Numbers that rise and are never given twice.

use crate::{DbError, Tx};

/// Takes so many numbers of a counter, and says the first of them. Holds the counter until the commit, so numbers rise
/// in the order of the commits.
pub(crate) fn reserve(tx: &Tx<'_>, counter: &str, count: usize) -> Result<i64, DbError> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last = tx.row(
        "INSERT INTO counters (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value RETURNING value",
        [counter.into(), count.into()],
        |row| row.whole(0),
    )?;
    Ok(last.unwrap_or_default() - count + 1)
}
