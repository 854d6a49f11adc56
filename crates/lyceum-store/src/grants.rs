//! What people allowed programs to do, and the tokens that follow from it. Of a token only its hash is here.
//!
//! Ending a grant takes its tokens with it, in the same transaction; so there is no moment at which one is left over.

use jiff::Timestamp;

use crate::{DbError, Row, Tx};

/// For how long a code or a token is remembered after its end, so that its misuse can still be told from noise.
const EXPIRED_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// What a person allowed a program to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// Who allowed it.
    pub subject: String,
    /// The program.
    pub client: String,
    /// What the program calls itself.
    pub client_name: Option<String>,
    /// What the tokens are for.
    pub resource: String,
    /// The scopes, with spaces between.
    pub scopes: String,
    /// What is known of the person beside the subject, as JSON.
    pub facts: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
}

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// To be exchanged for the first tokens.
    Code,
    /// Sent with each request.
    Access,
    /// To be exchanged for new tokens.
    Refresh,
}

/// A token to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// Its hash.
    pub hash: &'a [u8; 32],
    /// What it is for.
    pub kind: TokenKind,
    /// Its scopes, with spaces between.
    pub scopes: &'a str,
    /// What must hold when it is used, as JSON.
    pub facts: &'a str,
    /// When it ends.
    pub expires: Timestamp,
}

/// A token that is kept, with its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    /// What it is for.
    pub kind: TokenKind,
    /// Its scopes, with spaces between.
    pub scopes: String,
    /// What must hold when it is used, as JSON.
    pub facts: String,
    /// When it ends.
    pub expires: Timestamp,
    /// When it was used up.
    pub used: Option<Timestamp>,
    /// What it follows from.
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
        kind.ok_or_else(|| DbError::Content(format!("there is no kind of token {text:?}")))
    }
}

/// Writes a grant down.
pub fn open(tx: &Tx<'_>, grant: &Grant) -> Result<(), DbError> {
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

/// Keeps a token of a grant.
pub fn give(tx: &Tx<'_>, grant: &str, token: NewToken<'_>) -> Result<(), DbError> {
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

/// The token with that hash, whatever state it is in.
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
                expires: moment(row.whole(12)?)?,
                used: row.maybe_whole(13)?.map(moment).transpose()?,
            })
        },
    )
}

/// Uses a token up, and says whether this was the first time.
pub fn use_up(tx: &Tx<'_>, hash: &[u8; 32], now: Timestamp) -> Result<bool, DbError> {
    let changed = tx.execute(
        "UPDATE tokens SET used = $1 WHERE hash = $2 AND used IS NULL",
        [now.as_millisecond().into(), hash.as_slice().into()],
    )?;
    Ok(changed > 0)
}

/// Takes one token away.
pub fn forget(tx: &Tx<'_>, hash: &[u8; 32]) -> Result<(), DbError> {
    tx.execute("DELETE FROM tokens WHERE hash = $1", [hash.as_slice().into()])?;
    Ok(())
}

/// Ends a grant and all that follows from it, and says whether there was one.
pub fn end(tx: &Tx<'_>, grant: &str) -> Result<bool, DbError> {
    tx.execute("DELETE FROM tokens WHERE grant_id = $1", [grant.into()])?;
    Ok(tx.execute("DELETE FROM grants WHERE id = $1", [grant.into()])? > 0)
}

/// The grants of a person, or of everyone, the newest first.
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
        created: moment(row.whole(7)?)?,
        expires: moment(row.whole(8)?)?,
    })
}

fn moment(milliseconds: i64) -> Result<Timestamp, DbError> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| DbError::Content(error.to_string()))
}
