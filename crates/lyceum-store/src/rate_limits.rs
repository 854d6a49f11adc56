//! Token buckets that several processes share, by the database's clock.

use std::time::Duration;

use crate::{DbError, Tx};

/// The refill rate of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Capacity of the bucket.
    pub burst: u32,
    /// Time to refill one token.
    pub every: Duration,
}

/// Takes a token of a bucket; the error is how long to wait for one.
pub fn take(tx: &Tx<'_>, name: &str, rate: Rate) -> Result<Result<(), Duration>, DbError> {
    let now = tx.now()?.as_millisecond();
    let every = i64::try_from(rate.every.as_millis()).unwrap_or(i64::MAX);
    let latest = now.saturating_add(every.saturating_mul(i64::from(rate.burst)));
    let taken = tx.row(
        "INSERT INTO rate_limits (name, full_at) VALUES ($1, $2 + $3) ON CONFLICT (name) DO UPDATE
         SET full_at = (CASE WHEN rate_limits.full_at > $2 THEN rate_limits.full_at ELSE $2 END) + $3
         WHERE (CASE WHEN rate_limits.full_at > $2 THEN rate_limits.full_at ELSE $2 END) + $3 <= $4
         RETURNING full_at",
        [name.into(), now.into(), every.into(), latest.into()],
        |row| row.integer(0),
    )?;
    if taken.is_some() {
        return Ok(Ok(()));
    }
    let full_at =
        tx.row("SELECT full_at FROM rate_limits WHERE name = $1", [name.into()], |row| row.integer(0))?;
    let wait = full_at.unwrap_or(now).saturating_add(every).saturating_sub(latest);
    Ok(Err(Duration::from_millis(u64::try_from(wait).unwrap_or_default())))
}

/// Deletes full buckets, which are as good as new ones; returns how many.
pub fn sweep(tx: &Tx<'_>) -> Result<usize, DbError> {
    let now = tx.now()?.as_millisecond();
    tx.execute("DELETE FROM rate_limits WHERE full_at <= $1", [now.into()])
}
