//! Leases: which process may write to something that several could, for a time by the database's clock.
//!
//! Each change of the holder raises the term. A holder renews its lease in every transaction that publishes, which fails
//! if another has taken over, however long the holder was paused.

use std::time::Duration;

use crate::{DbError, DriverError, Tx};

/// How long a lease lasts without being renewed.
pub const TTL: Duration = Duration::from_secs(30);

/// A process that can hold leases: each start is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder(String);

/// A lease that was acquired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    name: String,
    holder: Holder,
    term: i64,
}

/// Which leases of others may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takeover {
    /// Expired ones.
    Expired,
    /// Any: the caller knows by a file lock that the holder has ended.
    Any,
}

impl Holder {
    /// A holder that no other process is.
    pub fn random() -> Result<Self, DbError> {
        let random = || getrandom::u64().map_err(|error| DbError::Sql(DriverError::new(&error)));
        Ok(Self(format!("{:016x}{:016x}", random()?, random()?)))
    }
}

/// Acquires a lease, or renews it; `None` if another holder has it.
pub fn acquire(
    tx: &Tx<'_>,
    name: &str,
    holder: &Holder,
    takeover: Takeover,
) -> Result<Option<Lease>, DbError> {
    let now = tx.now()?.as_millisecond();
    let expired = match takeover {
        Takeover::Expired => now,
        Takeover::Any => i64::MAX,
    };
    let term = tx.row(
        "INSERT INTO leases (name, holder, term, until) VALUES ($1, $2, 1, $3)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
             term = leases.term + (CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END)
         WHERE leases.holder = excluded.holder OR leases.until <= $4 RETURNING term",
        [name.into(), (&holder.0).into(), until(now).into(), expired.into()],
        |row| row.integer(0),
    )?;
    Ok(term.map(|term| Lease { name: name.to_owned(), holder: holder.clone(), term }))
}

impl Lease {
    /// The term, which rises with each change of the holder.
    pub fn term(&self) -> i64 {
        self.term
    }

    /// Renews the lease and keeps others from taking it until the transaction ends; an error if one has.
    pub fn renew(&self, tx: &Tx<'_>) -> Result<(), DbError> {
        let now = tx.now()?.as_millisecond();
        if self.set_until(tx, until(now))? { Ok(()) } else { Err(DbError::LeaseLost) }
    }

    /// Gives the lease up, so that another process can take it at once.
    pub fn release(&self, tx: &Tx<'_>) -> Result<(), DbError> {
        self.set_until(tx, 0).map(drop)
    }

    fn set_until(&self, tx: &Tx<'_>, until: i64) -> Result<bool, DbError> {
        let changed = tx.execute(
            "UPDATE leases SET until = $1 WHERE name = $2 AND holder = $3 AND term = $4",
            [until.into(), (&self.name).into(), (&self.holder.0).into(), self.term.into()],
        )?;
        Ok(changed > 0)
    }
}

fn until(now: i64) -> i64 {
    now.saturating_add(i64::try_from(TTL.as_millis()).unwrap_or(i64::MAX))
}
