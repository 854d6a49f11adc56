//! What an operator should know about a database server.

use jiff::Timestamp;

use crate::{DbError, Tx};

/// Settings and state of a Postgres server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Its version.
    pub version: String,
    /// Encoding of text.
    pub encoding: String,
    /// The standbys that a commit waits for, as configured; empty if for none.
    pub synchronous_standby_names: String,
    /// Number of connected standbys; 0 also if this user may not see them.
    pub standbys: i64,
    /// Maximum number of connections of all clients.
    pub max_connections: i64,
    /// The process of the server that answered.
    pub process: i64,
    /// Its clock.
    pub now: Timestamp,
}

/// Inspects a Postgres server.
pub fn inspect(tx: &Tx<'_>) -> Result<Inspection, DbError> {
    let now = tx.now()?;
    let found = tx.row(
        "SELECT current_setting('server_version'), current_setting('server_encoding'),
             current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication),
             current_setting('max_connections')::bigint, pg_backend_pid()",
        [],
        |row| {
            Ok(Inspection {
                version: row.text(0)?,
                encoding: row.text(1)?,
                synchronous_standby_names: row.text(2)?,
                standbys: row.integer(3)?,
                max_connections: row.integer(4)?,
                process: row.integer(5)?,
                now,
            })
        },
    )?;
    found.ok_or_else(|| DbError::Content("the server says nothing about itself".to_owned()))
}
