//! Copies what can't be rebuilt from the sources to another database: grants, tokens, used nonces and the audit log.
//!
//! A row that is there already is left alone, so an interrupted copy can run again. Afterwards both sides are compared by
//! counts and hashes.

use sha2::{Digest, Sha256};

use crate::{Db, DbError, Param, Row, Tx, counters};

/// Rows per transaction.
const BATCH_ROWS: i64 = 1_000;

/// What was copied: name of the table, and number of rows.
pub type Copied = Vec<(&'static str, usize)>;

/// Why a copy failed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// The target has other rows.
    #[error(
        "the target has {found} {table} where the origin has {expected}, or others; it is in use already"
    )]
    Differs {
        /// The table.
        table: &'static str,
        /// Number of rows of the origin.
        expected: usize,
        /// Number of rows of the target.
        found: usize,
    },
}

/// A table: its columns, and the statements that read and insert its rows. The first column read is the key that rows are
/// ordered by.
struct Table {
    name: &'static str,
    columns: &'static [Column],
    /// Reads rows after a key.
    select: &'static str,
    insert: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Column {
    Integer,
    Text,
    Bytes,
}

/// A value of a row.
#[derive(Debug, Clone)]
enum Cell {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Vec<u8>),
}

use Column::{Bytes, Integer, Text};

const TABLES: [Table; 4] = [
    Table {
        name: "grants",
        columns: &[Text, Text, Text, Text, Text, Text, Text, Integer, Integer],
        select:
            "SELECT id, subject, client, client_name, resource, scopes, facts, created, expires FROM grants
             WHERE id > $1 ORDER BY id LIMIT $2",
        insert:
            "INSERT INTO grants (id, subject, client, client_name, resource, scopes, facts, created, expires)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
    },
    Table {
        name: "tokens",
        columns: &[Bytes, Text, Text, Text, Text, Integer, Integer],
        select: "SELECT hash, grant_id, kind, scopes, facts, expires, used FROM tokens
             WHERE hash > $1 ORDER BY hash LIMIT $2",
        insert: "INSERT INTO tokens (hash, grant_id, kind, scopes, facts, expires, used)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
    },
    Table {
        name: "audit",
        columns: &[Integer, Integer, Text, Text, Text, Text],
        select: "SELECT seq, at, kind, subject, client, detail FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2",
        insert: "INSERT INTO audit (seq, at, kind, subject, client, detail)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
    },
    Table {
        name: "nonces",
        columns: &[Text, Text, Bytes, Integer],
        select: "SELECT key, namespace, value, expires FROM kept
             WHERE namespace = 'siwe-nonce' AND key > $1 ORDER BY key LIMIT $2",
        insert: "INSERT INTO kept (key, namespace, value, expires) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    },
];

/// Copies the state of sign-in and verifies the copy. Nothing else may write to either database. Blocks.
pub fn copy_sign_in(from: &Db, to: &Db) -> Result<Copied, TransferError> {
    let mut copied = Vec::new();
    for table in &TABLES {
        let (expected, hash) = table.each_batch(from, |rows| table.insert(to, rows))?;
        let (found, same) = table.each_batch(to, |_| Ok(()))?;
        if (expected, hash) != (found, same) {
            return Err(TransferError::Differs { table: table.name, expected, found });
        }
        copied.push((table.name, expected));
    }
    let (last, _) = from.read_blocking(|tx| counters::last(tx, "audit"))?;
    to.write_blocking("audit", move |tx| counters::raise(tx, "audit", last))?;
    Ok(copied)
}

impl Table {
    /// Reads all rows; returns how many there are, and their hash.
    fn each_batch(
        &self,
        db: &Db,
        mut work: impl FnMut(Vec<Vec<Cell>>) -> Result<(), DbError>,
    ) -> Result<(usize, [u8; 32]), DbError> {
        let (mut count, mut hash) = (0, Sha256::new());
        let mut after = match self.columns.first() {
            Some(Integer) | None => Cell::Integer(Some(i64::MIN)),
            Some(Text) => Cell::Text(Some(String::new())),
            Some(Bytes) => Cell::Bytes(Vec::new()),
        };
        loop {
            let key = after.clone();
            let rows = db.read_blocking(|tx| {
                tx.rows(self.select, [key.param(), BATCH_ROWS.into()], |row| self.read(row))
            })?;
            let Some(last) = rows.last().and_then(|row| row.first()) else {
                return Ok((count, hash.finalize().into()));
            };
            after = last.clone();
            count += rows.len();
            rows.iter().flatten().for_each(|cell| cell.hash(&mut hash));
            work(rows)?;
        }
    }

    fn read(&self, row: &Row<'_>) -> Result<Vec<Cell>, DbError> {
        let cell = |(number, column): (usize, &Column)| {
            Ok(match column {
                Integer => Cell::Integer(row.maybe_integer(number)?),
                Text => Cell::Text(row.maybe_text(number)?),
                Bytes => Cell::Bytes(row.bytes(number)?),
            })
        };
        self.columns.iter().enumerate().map(cell).collect()
    }

    fn insert(&self, db: &Db, rows: Vec<Vec<Cell>>) -> Result<(), DbError> {
        let (sql, columns) = (self.insert, self.columns.len());
        let insert = move |tx: &Tx<'_>| match columns {
            4 => insert::<4>(tx, sql, &rows),
            6 => insert::<6>(tx, sql, &rows),
            7 => insert::<7>(tx, sql, &rows),
            _ => insert::<9>(tx, sql, &rows),
        };
        db.write_blocking("transfer", insert)
    }
}

fn insert<const N: usize>(tx: &Tx<'_>, sql: &str, rows: &[Vec<Cell>]) -> Result<(), DbError> {
    tx.many(sql, rows.iter().map(|row| params::<N>(row))).map(drop)
}

fn params<const N: usize>(row: &[Cell]) -> [Param<'_>; N] {
    std::array::from_fn(|number| row.get(number).map_or(Param::Integer(None), Cell::param))
}

impl Cell {
    fn param(&self) -> Param<'_> {
        match self {
            Self::Integer(number) => Param::Integer(*number),
            Self::Text(text) => Param::Text(text.as_deref()),
            Self::Bytes(bytes) => Param::Bytes(Some(bytes)),
        }
    }

    /// Adds the value with its type and length, so that different rows never look alike.
    fn hash(&self, hash: &mut Sha256) {
        let (kind, bytes) = match self {
            Self::Integer(None) | Self::Text(None) => (0_u8, Vec::new()),
            Self::Integer(Some(number)) => (1, number.to_le_bytes().to_vec()),
            // Postgres can't store NUL in text.
            Self::Text(Some(text)) => (2, text.replace('\0', "\u{fffd}").into_bytes()),
            Self::Bytes(bytes) => (3, bytes.clone()),
        };
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
}
