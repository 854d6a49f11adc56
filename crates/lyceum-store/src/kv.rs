//! Key-value pairs in namespaces, with optional expiry: nonces, delivery ids, caches.

use jiff::Timestamp;

use crate::{DbError, Tx};

/// A namespace with the TTL of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Its name.
    pub name: &'static str,
    /// TTL in seconds; `None` means no expiry.
    pub ttl_seconds: Option<i64>,
}

impl Namespace {
    /// Inserts or replaces a value.
    pub fn put(&self, tx: &Tx<'_>, key: &str, value: &[u8], now: Timestamp) -> Result<(), DbError> {
        tx.execute(
            "INSERT INTO kept (namespace, key, value, expires) VALUES ($1, $2, $3, $4)
             ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires",
            [self.name.into(), key.into(), value.into(), self.expires(now).into()],
        )?;
        Ok(())
    }

    /// Inserts a value unless an unexpired one exists; returns whether it was inserted.
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

    /// Returns an unexpired value.
    pub fn get(&self, tx: &Tx<'_>, key: &str, now: Timestamp) -> Result<Option<Vec<u8>>, DbError> {
        tx.row(
            "SELECT value FROM kept WHERE namespace = $1 AND key = $2 AND (expires IS NULL OR expires > $3)",
            [self.name.into(), key.into(), now.as_millisecond().into()],
            |row| row.bytes(0),
        )
    }

    /// Removes and returns an unexpired value, so exactly one caller gets it.
    pub fn take(&self, tx: &Tx<'_>, key: &str, now: Timestamp) -> Result<Option<Vec<u8>>, DbError> {
        let taken = tx.row(
            "DELETE FROM kept WHERE namespace = $1 AND key = $2 RETURNING value, expires",
            [self.name.into(), key.into()],
            |row| Ok((row.bytes(0)?, row.maybe_integer(1)?)),
        )?;
        let is_valid = |expires: Option<i64>| expires.is_none_or(|expires| expires > now.as_millisecond());
        Ok(taken.filter(|(_, expires)| is_valid(*expires)).map(|(value, _)| value))
    }

    fn expires(&self, now: Timestamp) -> Option<i64> {
        self.ttl_seconds.map(|seconds| now.as_millisecond().saturating_add(seconds.saturating_mul(1000)))
    }
}

/// Deletes expired values of all namespaces, and returns how many.
pub fn sweep(tx: &Tx<'_>, now: Timestamp) -> Result<usize, DbError> {
    tx.execute("DELETE FROM kept WHERE expires <= $1", [now.as_millisecond().into()])
}
