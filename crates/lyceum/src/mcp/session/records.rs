//! The records of sessions: files of a folder, or rows of the database that several nodes share.

use std::{
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lyceum_store::{
    Db, DbError,
    kv::{self, Namespace},
};

use super::files::StoredSession;

/// The age at which an unfinished file is considered abandoned.
const UNFINISHED_AGE: Duration = Duration::from_secs(3600);

/// Sessions in the database. They expire a week after a node had them in memory.
const SESSIONS: Namespace = Namespace { name: "mcp-sessions", ttl_seconds: Some(7 * 24 * 3600) };

/// The same, before their first request.
const HANDSHAKES: Namespace = Namespace { ttl_seconds: Some(600), ..SESSIONS };

/// Where records are. All functions block.
#[derive(Debug)]
pub(super) enum Records {
    Folder(PathBuf),
    Database(Db),
}

impl Records {
    /// Whether several nodes use them.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Database(_))
    }

    /// Reads a record. An invalid one counts as missing: the client must initialize again.
    pub(super) fn read(&self, id: &str) -> io::Result<Option<StoredSession>> {
        if !is_ours(id) {
            return Ok(None);
        }
        let text = match self {
            Self::Folder(folder) => match std::fs::read(file(folder, id)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                text => Some(text?),
            },
            Self::Database(db) => {
                db.read_blocking(|tx| SESSIONS.get(tx, id, Timestamp::now())).map_err(io::Error::other)?
            }
        };
        Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// Inserts or replaces a record.
    pub(super) fn write(&self, id: &str, stored: &StoredSession) -> io::Result<()> {
        let text = serde_json::to_vec(stored)?;
        match self {
            _ if !is_ours(id) => Ok(()),
            Self::Folder(folder) => {
                std::fs::create_dir_all(folder)?;
                let file = file(folder, id);
                let unfinished = file.with_extension("new");
                let mut options = std::fs::OpenOptions::new();
                let mut written =
                    options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
                written.write_all(&text)?;
                std::fs::rename(&unfinished, &file)
            }
            Self::Database(db) => put(db, SESSIONS, id, text),
        }
    }

    /// Writes a session after its handshake to the database; files are written on the first request.
    pub(super) fn write_handshake(&self, id: &str, stored: &StoredSession) -> io::Result<()> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Database(db) => put(db, HANDSHAKES, id, serde_json::to_vec(stored)?),
        }
    }

    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        match self {
            _ if !is_ours(id) => Ok(()),
            Self::Folder(folder) => match std::fs::remove_file(file(folder, id)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Self::Database(db) => {
                let (about, id) = (about(id), id.to_owned());
                let take = move |tx: &lyceum_store::Tx<'_>| SESSIONS.take(tx, &id, Timestamp::now());
                db.write_blocking(about, take).map(drop).map_err(io::Error::other)
            }
        }
    }

    /// Notes that sessions are in use, which makes them expire later; deletes expired ones from the database.
    pub(super) fn touch<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                for id in ids.into_iter().filter(|id| is_ours(id)) {
                    // The modification time of the file is the time of last use.
                    let opened = std::fs::File::options().append(true).open(file(folder, id));
                    let _age_is_a_hint = opened.and_then(|file| file.set_modified(SystemTime::now()));
                }
                Ok(())
            }
            Self::Database(db) => {
                let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
                let touch = move |tx: &lyceum_store::Tx<'_>| -> Result<(), DbError> {
                    let now = Timestamp::now();
                    for id in &ids {
                        if let Some(text) = SESSIONS.get(tx, id, now)? {
                            SESSIONS.put(tx, id, &text, now)?;
                        }
                    }
                    kv::sweep(tx, now).map(drop)
                };
                db.write_blocking(SESSIONS.name, touch).map_err(io::Error::other)
            }
        }
    }

    /// Id, owner and last use of the records of a folder that are not open. If there are too many, the oldest are deleted
    /// unread. Those of a database are read one by one.
    pub(super) fn read_all(
        &self,
        max: usize,
        is_open: impl Fn(&str) -> bool,
    ) -> io::Result<Vec<(String, Option<String>, SystemTime)>> {
        let Self::Folder(folder) = self else { return Ok(Vec::new()) };
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            // A file that is gone by now was deleted by its client.
            let Ok(used) = path.metadata().and_then(|file| file.modified()) else { continue };
            files.push((used, path));
        }
        files.sort_unstable_by(|one, other| other.cmp(one));
        let mut records = Vec::new();
        for (number, (used, path)) in files.into_iter().enumerate() {
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let is_session = is_ours(&id) && file(folder, &id) == path;
            if is_open(&id) {
                continue;
            }
            match self.read(&id)?.filter(|_| is_session && number < max) {
                Some(StoredSession { owner, .. }) => records.push((id, owner, used)),
                // Another process may be writing it.
                None if number < max && used.elapsed().is_ok_and(|age| age < UNFINISHED_AGE) => {}
                None => drop(std::fs::remove_file(path)),
            }
        }
        Ok(records)
    }
}

/// Only ids that we generate are names of records: 36 characters of hex digits and dashes.
fn is_ours(id: &str) -> bool {
    id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

fn file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

fn put(db: &Db, namespace: Namespace, id: &str, text: Vec<u8>) -> io::Result<()> {
    let (about, id) = (about(id), id.to_owned());
    let put = move |tx: &lyceum_store::Tx<'_>| namespace.put(tx, &id, &text, Timestamp::now());
    db.write_blocking(about, put).map_err(io::Error::other)
}

/// What a write of a session is about.
fn about(id: &str) -> String {
    format!("{}:{id}", SESSIONS.name)
}
