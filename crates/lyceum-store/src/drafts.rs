//! Drafts: documents that a person approved, on their way to a pull request or a branch.
//!
//! What a draft consists of is written once; what becomes of it changes.

use jiff::Timestamp;

use crate::{DbError, Row, Tx};

/// A draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The source that it is for.
    pub source: String,
    /// Its id, unique within the source.
    pub id: String,
    /// The tool that made it.
    pub tool: String,
    /// Who approved it, if they signed in.
    pub subject: Option<String>,
    /// Its type.
    pub content_type: String,
    /// Its title.
    pub title: String,
    /// Its file.
    pub path: String,
    /// The whole text of the file.
    pub body: String,
    /// Its branch.
    pub branch: String,
    /// When it was approved; also the date of its commit.
    pub created: Timestamp,
    /// What became of it.
    pub progress: Progress,
}

/// What became of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The state.
    pub state: State,
    /// When it changed.
    pub changed: Timestamp,
    /// The commit that it is based on, once chosen.
    pub base: Option<String>,
    /// Its commit, once there is a branch.
    pub commit: Option<String>,
    /// The number of its pull request.
    pub number: Option<i64>,
    /// The web page of its pull request, or of its file.
    pub url: Option<String>,
    /// Who merged or closed the pull request.
    pub ended_by: Option<String>,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// The state of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// To be published.
    Queued,
    /// Its pull request is open.
    Open,
    /// Its branch is pushed; there is no pull request.
    Pushed,
    /// Its pull request is merged.
    Merged,
    /// Its pull request is closed without a merge.
    Closed,
    /// It could not be published.
    Failed,
}

impl State {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Open, Self::Pushed, Self::Merged, Self::Closed, Self::Failed];

    /// The name, as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Open => "open",
            Self::Pushed => "pushed",
            Self::Merged => "merged",
            Self::Closed => "closed",
            Self::Failed => "failed",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

impl Progress {
    /// A draft that was just approved.
    pub fn queued(now: Timestamp) -> Self {
        let (base, commit, number, url, ended_by, error) = (None, None, None, None, None, None);
        Self { state: State::Queued, changed: now, base, commit, number, url, ended_by, error }
    }
}

const COLUMNS: &str = "source, id, tool, subject, content_type, title, path, body, branch, created, state, changed, \
                       base, commit_id, number, url, ended_by, error";

/// Adds a draft, unless there is one of that id; returns whether it was added.
pub fn add(tx: &Tx<'_>, draft: &Draft) -> Result<bool, DbError> {
    let added = tx.execute(
        "INSERT INTO drafts (source, id, tool, subject, content_type, title, path, body, branch, created, state, changed)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (source, id) DO NOTHING",
        [
            (&draft.source).into(),
            (&draft.id).into(),
            (&draft.tool).into(),
            draft.subject.as_deref().into(),
            (&draft.content_type).into(),
            (&draft.title).into(),
            (&draft.path).into(),
            (&draft.body).into(),
            (&draft.branch).into(),
            draft.created.as_millisecond().into(),
            draft.progress.state.as_str().into(),
            draft.progress.changed.as_millisecond().into(),
        ],
    )?;
    Ok(added > 0)
}

/// Finds a draft.
pub fn find(tx: &Tx<'_>, source: &str, id: &str) -> Result<Option<Draft>, DbError> {
    let sql = format!("SELECT {COLUMNS} FROM drafts WHERE source = $1 AND id = $2");
    tx.row(&sql, [source.into(), id.into()], read)
}

/// The newest drafts of a source, at most `max`; all states, or one.
pub fn newest(tx: &Tx<'_>, source: &str, state: Option<State>, max: i64) -> Result<Vec<Draft>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM drafts WHERE source = $1 AND (state = $2 OR $2 = '') ORDER BY created DESC, id LIMIT $3"
    );
    tx.rows(&sql, [source.into(), state.map_or("", State::as_str).into(), max.into()], read)
}

/// Whether a file is taken by a draft that is not merged or closed, other than the one of that id.
pub fn is_path_taken(tx: &Tx<'_>, source: &str, path: &str, id: &str) -> Result<bool, DbError> {
    let found = tx.row(
        "SELECT 1 FROM drafts WHERE source = $1 AND path = $2 AND id <> $3 AND state IN ('queued', 'open', 'pushed')",
        [source.into(), path.into(), id.into()],
        |row| row.integer(0),
    )?;
    Ok(found.is_some())
}

/// Records what became of a draft.
pub fn set_progress(tx: &Tx<'_>, source: &str, id: &str, progress: &Progress) -> Result<(), DbError> {
    tx.execute(
        "UPDATE drafts SET state = $1, changed = $2, base = $3, commit_id = $4, number = $5, url = $6, ended_by = $7,
             error = $8
         WHERE source = $9 AND id = $10",
        [
            progress.state.as_str().into(),
            progress.changed.as_millisecond().into(),
            progress.base.as_deref().into(),
            progress.commit.as_deref().into(),
            progress.number.into(),
            progress.url.as_deref().into(),
            progress.ended_by.as_deref().into(),
            progress.error.as_deref().into(),
            source.into(),
            id.into(),
        ],
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<Draft, DbError> {
    let moment = |column| {
        let at = Timestamp::from_millisecond(row.integer(column)?);
        at.map_err(|error| DbError::Content(error.to_string()))
    };
    let state = row.text(10)?;
    let state =
        State::parse(&state).ok_or_else(|| DbError::Content(format!("unknown state of a draft: {state}")))?;
    Ok(Draft {
        source: row.text(0)?,
        id: row.text(1)?,
        tool: row.text(2)?,
        subject: row.maybe_text(3)?,
        content_type: row.text(4)?,
        title: row.text(5)?,
        path: row.text(6)?,
        body: row.text(7)?,
        branch: row.text(8)?,
        created: moment(9)?,
        progress: Progress {
            state,
            changed: moment(11)?,
            base: row.maybe_text(12)?,
            commit: row.maybe_text(13)?,
            number: row.maybe_integer(14)?,
            url: row.maybe_text(15)?,
            ended_by: row.maybe_text(16)?,
            error: row.maybe_text(17)?,
        },
    })
}
