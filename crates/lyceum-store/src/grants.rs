//! OAuth grants and their tokens. Tokens are stored as hashes only.
//!
//! Revoking a grant deletes its tokens in the same transaction, so no token ever outlives its grant.

use jiff::Timestamp;

use crate::{DbError, Row, Tx};

/// How long an expired code or token is kept, so that its reuse can still be detected.
const EXPIRED_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// A grant: what a user allowed a client to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Grant id.
    pub id: String,
    /// Subject who granted it.
    pub subject: String,
    /// Client id.
    pub client: String,
    /// Name of the client, as given by itself.
    pub client_name: Option<String>,
    /// Resource that its tokens are bound to.
    pub resource: String,
    /// Granted scopes, separated by spaces.
    pub scopes: String,
    /// Claims about the user, as JSON.
    pub facts: String,
    /// Creation time.
    pub created: Timestamp,
    /// Expiry.
    pub expires: Timestamp,
}

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Authorization code.
    Code,
    /// Access token.
    Access,
    /// Refresh token.
    Refresh,
}

/// A token to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// Hash of the token.
    pub hash: &'a [u8; 32],
    /// Kind of the token.
    pub kind: TokenKind,
    /// Its scopes, separated by spaces.
    pub scopes: &'a str,
    /// Conditions for its use, as JSON.
    pub facts: &'a str,
    /// Expiry.
    pub expires: Timestamp,
}

/// A stored token, with its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Its scopes, separated by spaces.
    pub scopes: String,
    /// Conditions for its use, as JSON.
    pub facts: String,
    /// Expiry.
    pub expires: Timestamp,
    /// When it was redeemed.
    pub used: Option<Timestamp>,
    /// The grant it belongs to.
    pub grant: Grant,
}

impl TokenKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Access => "access",
            Self::Refresh => "refresh",
        }
    }

    fn parse(text: &str) -> Result<Self, DbError> {
        let kinds = [Self::Code, Self::Access, Self::Refresh];
        let kind = kinds.into_iter().find(|kind| kind.as_str() == text);
        kind.ok_or_else(|| DbError::Content(format!("unknown token kind {text:?}")))
    }
}

/// Inserts a grant.
pub fn insert(tx: &Tx<'_>, grant: &Grant) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO grants (id, subject, client, client_name, resource, scopes, facts, created, expires)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [
            grant.id.as_str().into(),
            grant.subject.as_str().into(),
            grant.client.as_str().into(),
            grant.client_name.as_deref().into(),
            grant.resource.as_str().into(),
            grant.scopes.as_str().into(),
            grant.facts.as_str().into(),
            grant.created.as_millisecond().into(),
            grant.expires.as_millisecond().into(),
        ],
    )?;
    Ok(())
}

/// Inserts a token of a grant.
pub fn add_token(tx: &Tx<'_>, grant: &str, token: NewToken<'_>) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO tokens (hash, grant_id, kind, scopes, facts, expires) VALUES ($1, $2, $3, $4, $5, $6)",
        [
            token.hash.as_slice().into(),
            grant.into(),
            token.kind.as_str().into(),
            token.scopes.into(),
            token.facts.into(),
            token.expires.as_millisecond().into(),
        ],
    )?;
    Ok(())
}

/// Finds a token by hash, also if it is expired or used.
pub fn find_token(tx: &Tx<'_>, hash: &[u8; 32]) -> Result<Option<StoredToken>, DbError> {
    tx.row(
        "SELECT g.id, g.subject, g.client, g.client_name, g.resource, g.scopes, g.facts, g.created, g.expires,
                t.kind, t.scopes, t.facts, t.expires, t.used
         FROM tokens t JOIN grants g ON g.id = t.grant_id WHERE t.hash = $1",
        [hash.as_slice().into()],
        |row| {
            Ok(StoredToken {
                grant: grant_of(row)?,
                kind: TokenKind::parse(&row.text(9)?)?,
                scopes: row.text(10)?,
                facts: row.text(11)?,
                expires: timestamp(row.integer(12)?)?,
                used: row.maybe_integer(13)?.map(timestamp).transpose()?,
            })
        },
    )
}

/// Marks a token as used; returns whether this was the first use.
pub fn mark_used(tx: &Tx<'_>, hash: &[u8; 32], now: Timestamp) -> Result<bool, DbError> {
    let changed = tx.execute(
        "UPDATE tokens SET used = $1 WHERE hash = $2 AND used IS NULL",
        [now.as_millisecond().into(), hash.as_slice().into()],
    )?;
    Ok(changed > 0)
}

/// Deletes a token.
pub fn delete_token(tx: &Tx<'_>, hash: &[u8; 32]) -> Result<(), DbError> {
    tx.execute("DELETE FROM tokens WHERE hash = $1", [hash.as_slice().into()])?;
    Ok(())
}

/// Revokes a grant with all of its tokens; returns whether it existed.
pub fn revoke(tx: &Tx<'_>, grant: &str) -> Result<bool, DbError> {
    tx.execute("DELETE FROM tokens WHERE grant_id = $1", [grant.into()])?;
    Ok(tx.execute("DELETE FROM grants WHERE id = $1", [grant.into()])? > 0)
}

/// Lists the grants of a subject, or all, newest first.
pub fn list(tx: &Tx<'_>, subject: Option<&str>, now: Timestamp) -> Result<Vec<Grant>, DbError> {
    tx.rows(
        "SELECT id, subject, client, client_name, resource, scopes, facts, created, expires
         FROM grants WHERE ($1 IS NULL OR subject = $1) AND expires > $2 ORDER BY created DESC, id",
        [subject.into(), now.as_millisecond().into()],
        grant_of,
    )
}

/// Deletes expired grants and tokens, and returns how many.
pub fn sweep(tx: &Tx<'_>, now: Timestamp) -> Result<usize, DbError> {
    let before = now.as_millisecond() - EXPIRED_RETENTION_MS;
    let tokens = tx.execute("DELETE FROM tokens WHERE expires < $1", [before.into()])?;
    let grants = tx.execute("DELETE FROM grants WHERE expires < $1", [before.into()])?;
    Ok(tokens + grants)
}

fn grant_of(row: &Row<'_>) -> Result<Grant, DbError> {
    Ok(Grant {
        id: row.text(0)?,
        subject: row.text(1)?,
        client: row.text(2)?,
        client_name: row.maybe_text(3)?,
        resource: row.text(4)?,
        scopes: row.text(5)?,
        facts: row.text(6)?,
        created: timestamp(row.integer(7)?)?,
        expires: timestamp(row.integer(8)?)?,
    })
}

fn timestamp(milliseconds: i64) -> Result<Timestamp, DbError> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| DbError::Content(error.to_string()))
}
