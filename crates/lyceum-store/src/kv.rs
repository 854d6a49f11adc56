//! Small values under a name, each in a namespace, with or without an end: nonces, delivery ids, caches.

use jiff::Timestamp;

use crate::{DbError, Tx};

/// A namespace and how long its values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: &'static str,
    /// How many seconds a value is kept; nothing means until it is taken away.
    pub seconds: Option<i64>,
}

impl Namespace {
    /// Keeps a value, over one that may be there.
    pub fn put(&self, tx: &Tx<'_>, key: &str, value: &[u8], now: Timestamp) -> Result<(), DbError> {
        tx.execute(
            "INSERT INTO kept (namespace, key, value, expires) VALUES ($1, $2, $3, $4)
             ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires",
            [self.name.into(), key.into(), value.into(), self.expires(now).into()],
        )?;
        Ok(())
    }

    /// Keeps a value only where there is none yet, and says whether that was so.
    pub fn put_new(&self, tx: &Tx<'_>, key: &str, value: &[u8], now: Timestamp) -> Result<bool, DbError> {
        let changed = tx.execute(
            "INSERT INTO kept (namespace, key, value, expires) VALUES ($1, $2, $3, $4)
             ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires
             WHERE kept.expires <= $5",
            [
                self.name.into(),
                key.into(),
                value.into(),
                self.expires(now).into(),
                now.as_millisecond().into(),
            ],
        )?;
        Ok(changed > 0)
    }

    /// The value under a name, unless its time is over.
    pub fn get(&self, tx: &Tx<'_>, key: &str, now: Timestamp) -> Result<Option<Vec<u8>>, DbError> {
        tx.row(
            "SELECT value FROM kept WHERE namespace = $1 AND key = $2 AND (expires IS NULL OR expires > $3)",
            [self.name.into(), key.into(), now.as_millisecond().into()],
            |row| row.bytes(0),
        )
    }

    /// Takes the value under a name away, and gives it to whoever was first.
    pub fn take(&self, tx: &Tx<'_>, key: &str, now: Timestamp) -> Result<Option<Vec<u8>>, DbError> {
        let taken = tx.row(
            "DELETE FROM kept WHERE namespace = $1 AND key = $2 RETURNING value, expires",
            [self.name.into(), key.into()],
            |row| Ok((row.bytes(0)?, row.maybe_whole(1)?)),
        )?;
        let is_good = |expires: Option<i64>| expires.is_none_or(|expires| expires > now.as_millisecond());
        Ok(taken.filter(|(_, expires)| is_good(*expires)).map(|(value, _)| value))
    }

    fn expires(&self, now: Timestamp) -> Option<i64> {
        self.seconds.map(|seconds| now.as_millisecond().saturating_add(seconds.saturating_mul(1000)))
    }
}

/// Deletes expired values of all namespaces, and returns how many.
pub fn sweep(tx: &Tx<'_>, now: Timestamp) -> Result<usize, DbError> {
    tx.execute("DELETE FROM kept WHERE expires <= $1", [now.as_millisecond().into()])
}
